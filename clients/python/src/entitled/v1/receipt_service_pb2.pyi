from entitled.v1 import access_pb2 as _access_pb2
from entitled.v1 import entitlement_pb2 as _entitlement_pb2
from entitled.v1 import environment_pb2 as _environment_pb2
from entitled.v1 import product_pb2 as _product_pb2
from entitled.v1 import transaction_pb2 as _transaction_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.rpc import status_pb2 as _status_pb2  # type: ignore[import-untyped]
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import Any as _Any, ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor
DISAGREEMENT_KIND_OTHER_END: DisagreementKind
DISAGREEMENT_KIND_OURS_ONLY: DisagreementKind
DISAGREEMENT_KIND_THEIRS_ONLY: DisagreementKind
DISAGREEMENT_KIND_UNSPECIFIED: DisagreementKind
DOCUMENT_KIND_APP_RECEIPT: DocumentKind
DOCUMENT_KIND_NOTIFICATION_V1: DocumentKind
DOCUMENT_KIND_NOTIFICATION_V2: DocumentKind
DOCUMENT_KIND_RETENTION_MESSAGE_REQUEST: DocumentKind
DOCUMENT_KIND_SIGNED_APP_TRANSACTION: DocumentKind
DOCUMENT_KIND_SIGNED_RENEWAL_INFO: DocumentKind
DOCUMENT_KIND_SIGNED_TRANSACTION: DocumentKind
DOCUMENT_KIND_TRANSACTION_RECEIPT: DocumentKind
DOCUMENT_KIND_UNKNOWN_JWS: DocumentKind
DOCUMENT_KIND_UNSPECIFIED: DocumentKind
DOCUMENT_KIND_XCODE_RECEIPT: DocumentKind
MIGRATION_INPUT_SYNTAX_CSV: MigrationInputSyntax
MIGRATION_INPUT_SYNTAX_NDJSON: MigrationInputSyntax
MIGRATION_INPUT_SYNTAX_UNSPECIFIED: MigrationInputSyntax
MIGRATION_OUTCOME_EMPTY: MigrationOutcome
MIGRATION_OUTCOME_MIGRATED: MigrationOutcome
MIGRATION_OUTCOME_REJECTED: MigrationOutcome
MIGRATION_OUTCOME_RETRYABLE: MigrationOutcome
MIGRATION_OUTCOME_UNCHANGED: MigrationOutcome
MIGRATION_OUTCOME_UNSPECIFIED: MigrationOutcome
MIGRATION_STATE_CANCELLED: MigrationState
MIGRATION_STATE_FAILED: MigrationState
MIGRATION_STATE_FINISHED: MigrationState
MIGRATION_STATE_RUNNING: MigrationState
MIGRATION_STATE_UNSPECIFIED: MigrationState
OFFER_SIGNATURE_FORM_ADVANCED_COMMERCE_JWS: OfferSignatureForm
OFFER_SIGNATURE_FORM_INTRODUCTORY_ELIGIBILITY_JWS: OfferSignatureForm
OFFER_SIGNATURE_FORM_PROMOTIONAL_JWS: OfferSignatureForm
OFFER_SIGNATURE_FORM_PROMOTIONAL_LEGACY: OfferSignatureForm
OFFER_SIGNATURE_FORM_UNSPECIFIED: OfferSignatureForm

class CancelMigrationRequest(_message.Message):
    __slots__ = ["actor", "app", "migration_id", "note"]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    APP_FIELD_NUMBER: _ClassVar[int]
    MIGRATION_ID_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    actor: str
    app: str
    migration_id: str
    note: str
    def __init__(self, app: _Optional[str] = ..., migration_id: _Optional[str] = ..., note: _Optional[str] = ..., actor: _Optional[str] = ...) -> None: ...

class CancelMigrationResponse(_message.Message):
    __slots__ = ["migration", "position"]
    MIGRATION_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    migration: Migration
    position: str
    def __init__(self, migration: _Optional[_Union[Migration, _Mapping[str, _Any]]] = ..., position: _Optional[str] = ...) -> None: ...

class CertificateSummary(_message.Message):
    __slots__ = ["issuer", "not_after", "not_before", "sha256", "subject"]
    ISSUER_FIELD_NUMBER: _ClassVar[int]
    NOT_AFTER_FIELD_NUMBER: _ClassVar[int]
    NOT_BEFORE_FIELD_NUMBER: _ClassVar[int]
    SHA256_FIELD_NUMBER: _ClassVar[int]
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    issuer: str
    not_after: _timestamp_pb2.Timestamp
    not_before: _timestamp_pb2.Timestamp
    sha256: str
    subject: str
    def __init__(self, subject: _Optional[str] = ..., issuer: _Optional[str] = ..., not_before: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., not_after: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., sha256: _Optional[str] = ...) -> None: ...

class CompareWithAppleRequest(_message.Message):
    __slots__ = ["app", "environment", "page_size", "page_token", "sample_every"]
    APP_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    SAMPLE_EVERY_FIELD_NUMBER: _ClassVar[int]
    app: str
    environment: _environment_pb2.Environment
    page_size: int
    page_token: str
    sample_every: int
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., sample_every: _Optional[int] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class CompareWithAppleResponse(_message.Message):
    __slots__ = ["compared", "drifts", "next_page_token", "not_compared"]
    COMPARED_FIELD_NUMBER: _ClassVar[int]
    DRIFTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    NOT_COMPARED_FIELD_NUMBER: _ClassVar[int]
    compared: int
    drifts: _containers.RepeatedCompositeFieldContainer[CustomerDrift]
    next_page_token: str
    not_compared: int
    def __init__(self, compared: _Optional[int] = ..., drifts: _Optional[_Iterable[_Union[CustomerDrift, _Mapping[str, _Any]]]] = ..., next_page_token: _Optional[str] = ..., not_compared: _Optional[int] = ...) -> None: ...

class CustomerDrift(_message.Message):
    __slots__ = ["customer_id", "original_transaction_id", "reason", "transaction_id"]
    CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    ORIGINAL_TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    customer_id: str
    original_transaction_id: str
    reason: str
    transaction_id: str
    def __init__(self, customer_id: _Optional[str] = ..., original_transaction_id: _Optional[str] = ..., transaction_id: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class Disagreement(_message.Message):
    __slots__ = ["checked_at", "customer_id", "detected_at", "entitlement", "event_at", "event_id", "event_json", "event_type", "evidence_id", "kind", "reason", "stated_until", "until"]
    CHECKED_AT_FIELD_NUMBER: _ClassVar[int]
    CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    DETECTED_AT_FIELD_NUMBER: _ClassVar[int]
    ENTITLEMENT_FIELD_NUMBER: _ClassVar[int]
    EVENT_AT_FIELD_NUMBER: _ClassVar[int]
    EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    EVENT_JSON_FIELD_NUMBER: _ClassVar[int]
    EVENT_TYPE_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    STATED_UNTIL_FIELD_NUMBER: _ClassVar[int]
    UNTIL_FIELD_NUMBER: _ClassVar[int]
    checked_at: _timestamp_pb2.Timestamp
    customer_id: str
    detected_at: _timestamp_pb2.Timestamp
    entitlement: str
    event_at: _timestamp_pb2.Timestamp
    event_id: str
    event_json: str
    event_type: str
    evidence_id: int
    kind: DisagreementKind
    reason: str
    stated_until: _timestamp_pb2.Timestamp
    until: _timestamp_pb2.Timestamp
    def __init__(self, customer_id: _Optional[str] = ..., entitlement: _Optional[str] = ..., kind: _Optional[_Union[DisagreementKind, str]] = ..., detected_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., checked_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., stated_until: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., event_id: _Optional[str] = ..., event_type: _Optional[str] = ..., event_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., event_json: _Optional[str] = ..., reason: _Optional[str] = ..., until: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., evidence_id: _Optional[int] = ...) -> None: ...

class GetMigrationRequest(_message.Message):
    __slots__ = ["app", "migration_id"]
    APP_FIELD_NUMBER: _ClassVar[int]
    MIGRATION_ID_FIELD_NUMBER: _ClassVar[int]
    app: str
    migration_id: str
    def __init__(self, app: _Optional[str] = ..., migration_id: _Optional[str] = ...) -> None: ...

class GetMigrationResponse(_message.Message):
    __slots__ = ["migration"]
    MIGRATION_FIELD_NUMBER: _ClassVar[int]
    migration: Migration
    def __init__(self, migration: _Optional[_Union[Migration, _Mapping[str, _Any]]] = ...) -> None: ...

class InspectRequest(_message.Message):
    __slots__ = ["app", "device_identifier", "document", "raw_document"]
    APP_FIELD_NUMBER: _ClassVar[int]
    DEVICE_IDENTIFIER_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    RAW_DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    app: str
    device_identifier: bytes
    document: str
    raw_document: bytes
    def __init__(self, app: _Optional[str] = ..., document: _Optional[str] = ..., raw_document: _Optional[bytes] = ..., device_identifier: _Optional[bytes] = ...) -> None: ...

class InspectResponse(_message.Message):
    __slots__ = ["bundle_id", "certificates", "certificates_checked_at", "device_hash_matches", "documents", "environment", "explanation", "kind", "payload_json", "reason", "signed_date", "verified"]
    BUNDLE_ID_FIELD_NUMBER: _ClassVar[int]
    CERTIFICATES_CHECKED_AT_FIELD_NUMBER: _ClassVar[int]
    CERTIFICATES_FIELD_NUMBER: _ClassVar[int]
    DEVICE_HASH_MATCHES_FIELD_NUMBER: _ClassVar[int]
    DOCUMENTS_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    EXPLANATION_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_JSON_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    SIGNED_DATE_FIELD_NUMBER: _ClassVar[int]
    VERIFIED_FIELD_NUMBER: _ClassVar[int]
    bundle_id: str
    certificates: _containers.RepeatedCompositeFieldContainer[CertificateSummary]
    certificates_checked_at: _timestamp_pb2.Timestamp
    device_hash_matches: bool
    documents: _containers.RepeatedCompositeFieldContainer[InspectedDocument]
    environment: _environment_pb2.Environment
    explanation: str
    kind: DocumentKind
    payload_json: str
    reason: str
    signed_date: _timestamp_pb2.Timestamp
    verified: bool
    def __init__(self, kind: _Optional[_Union[DocumentKind, str]] = ..., verified: bool = ..., reason: _Optional[str] = ..., explanation: _Optional[str] = ..., payload_json: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., certificates: _Optional[_Iterable[_Union[CertificateSummary, _Mapping[str, _Any]]]] = ..., signed_date: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., bundle_id: _Optional[str] = ..., documents: _Optional[_Iterable[_Union[InspectedDocument, _Mapping[str, _Any]]]] = ..., device_hash_matches: bool = ..., certificates_checked_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ...) -> None: ...

class InspectedDocument(_message.Message):
    __slots__ = ["explanation", "kind", "payload_json", "reason", "verified"]
    EXPLANATION_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_JSON_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    VERIFIED_FIELD_NUMBER: _ClassVar[int]
    explanation: str
    kind: DocumentKind
    payload_json: str
    reason: str
    verified: bool
    def __init__(self, kind: _Optional[_Union[DocumentKind, str]] = ..., verified: bool = ..., reason: _Optional[str] = ..., explanation: _Optional[str] = ..., payload_json: _Optional[str] = ...) -> None: ...

class ListDisagreementsRequest(_message.Message):
    __slots__ = ["app", "customer_id", "environment", "page_size", "page_token"]
    APP_FIELD_NUMBER: _ClassVar[int]
    CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    app: str
    customer_id: str
    environment: _environment_pb2.Environment
    page_size: int
    page_token: str
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., customer_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListDisagreementsResponse(_message.Message):
    __slots__ = ["disagreements", "next_page_token"]
    DISAGREEMENTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    disagreements: _containers.RepeatedCompositeFieldContainer[Disagreement]
    next_page_token: str
    def __init__(self, disagreements: _Optional[_Iterable[_Union[Disagreement, _Mapping[str, _Any]]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ListMigrationFailuresRequest(_message.Message):
    __slots__ = ["app", "migration_id", "page_size", "page_token"]
    APP_FIELD_NUMBER: _ClassVar[int]
    MIGRATION_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    app: str
    migration_id: str
    page_size: int
    page_token: str
    def __init__(self, app: _Optional[str] = ..., migration_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListMigrationFailuresResponse(_message.Message):
    __slots__ = ["failures", "next_page_token"]
    FAILURES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    failures: _containers.RepeatedCompositeFieldContainer[MigrationFailure]
    next_page_token: str
    def __init__(self, failures: _Optional[_Iterable[_Union[MigrationFailure, _Mapping[str, _Any]]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ListMigrationsRequest(_message.Message):
    __slots__ = ["app", "page_size", "page_token"]
    APP_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    app: str
    page_size: int
    page_token: str
    def __init__(self, app: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListMigrationsResponse(_message.Message):
    __slots__ = ["migrations", "next_page_token"]
    MIGRATIONS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    migrations: _containers.RepeatedCompositeFieldContainer[Migration]
    next_page_token: str
    def __init__(self, migrations: _Optional[_Iterable[_Union[Migration, _Mapping[str, _Any]]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class MigrateReceiptsRequest(_message.Message):
    __slots__ = ["app", "correlation_id", "customer_id", "environment", "original_transaction_id", "receipt_base64", "receipt_bytes"]
    APP_FIELD_NUMBER: _ClassVar[int]
    CORRELATION_ID_FIELD_NUMBER: _ClassVar[int]
    CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    ORIGINAL_TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    RECEIPT_BASE64_FIELD_NUMBER: _ClassVar[int]
    RECEIPT_BYTES_FIELD_NUMBER: _ClassVar[int]
    app: str
    correlation_id: str
    customer_id: str
    environment: _environment_pb2.Environment
    original_transaction_id: str
    receipt_base64: str
    receipt_bytes: bytes
    def __init__(self, correlation_id: _Optional[str] = ..., app: _Optional[str] = ..., customer_id: _Optional[str] = ..., receipt_base64: _Optional[str] = ..., receipt_bytes: _Optional[bytes] = ..., original_transaction_id: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ...) -> None: ...

class MigrateReceiptsResponse(_message.Message):
    __slots__ = ["correlation_id", "error", "outcome", "position", "transaction_count"]
    CORRELATION_ID_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    TRANSACTION_COUNT_FIELD_NUMBER: _ClassVar[int]
    correlation_id: str
    error: _status_pb2.Status
    outcome: MigrationOutcome
    position: str
    transaction_count: int
    def __init__(self, correlation_id: _Optional[str] = ..., outcome: _Optional[_Union[MigrationOutcome, str]] = ..., error: _Optional[_Union[_status_pb2.Status, _Mapping[str, _Any]]] = ..., transaction_count: _Optional[int] = ..., position: _Optional[str] = ...) -> None: ...

class Migration(_message.Message):
    __slots__ = ["app", "done_bytes", "done_lines", "dry_run", "duplicates", "empty", "environment", "error", "finished_at", "input_bytes", "input_path", "migrated", "migration_id", "rate", "reasons", "rejected", "retryable", "started_at", "state", "unchanged", "upload_id"]
    APP_FIELD_NUMBER: _ClassVar[int]
    DONE_BYTES_FIELD_NUMBER: _ClassVar[int]
    DONE_LINES_FIELD_NUMBER: _ClassVar[int]
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    DUPLICATES_FIELD_NUMBER: _ClassVar[int]
    EMPTY_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    FINISHED_AT_FIELD_NUMBER: _ClassVar[int]
    INPUT_BYTES_FIELD_NUMBER: _ClassVar[int]
    INPUT_PATH_FIELD_NUMBER: _ClassVar[int]
    MIGRATED_FIELD_NUMBER: _ClassVar[int]
    MIGRATION_ID_FIELD_NUMBER: _ClassVar[int]
    RATE_FIELD_NUMBER: _ClassVar[int]
    REASONS_FIELD_NUMBER: _ClassVar[int]
    REJECTED_FIELD_NUMBER: _ClassVar[int]
    RETRYABLE_FIELD_NUMBER: _ClassVar[int]
    STARTED_AT_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    UNCHANGED_FIELD_NUMBER: _ClassVar[int]
    UPLOAD_ID_FIELD_NUMBER: _ClassVar[int]
    app: str
    done_bytes: int
    done_lines: int
    dry_run: bool
    duplicates: int
    empty: int
    environment: _environment_pb2.Environment
    error: str
    finished_at: _timestamp_pb2.Timestamp
    input_bytes: int
    input_path: str
    migrated: int
    migration_id: str
    rate: float
    reasons: _containers.RepeatedCompositeFieldContainer[MigrationReasonCount]
    rejected: int
    retryable: int
    started_at: _timestamp_pb2.Timestamp
    state: MigrationState
    unchanged: int
    upload_id: str
    def __init__(self, migration_id: _Optional[str] = ..., state: _Optional[_Union[MigrationState, str]] = ..., done_lines: _Optional[int] = ..., migrated: _Optional[int] = ..., unchanged: _Optional[int] = ..., empty: _Optional[int] = ..., rejected: _Optional[int] = ..., retryable: _Optional[int] = ..., started_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., finished_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., rate: _Optional[float] = ..., duplicates: _Optional[int] = ..., reasons: _Optional[_Iterable[_Union[MigrationReasonCount, _Mapping[str, _Any]]]] = ..., error: _Optional[str] = ..., app: _Optional[str] = ..., dry_run: bool = ..., done_bytes: _Optional[int] = ..., input_bytes: _Optional[int] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., input_path: _Optional[str] = ..., upload_id: _Optional[str] = ...) -> None: ...

class MigrationFailure(_message.Message):
    __slots__ = ["customer_id", "explanation", "input", "line", "outcome", "reason"]
    CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    EXPLANATION_FIELD_NUMBER: _ClassVar[int]
    INPUT_FIELD_NUMBER: _ClassVar[int]
    LINE_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    customer_id: str
    explanation: str
    input: str
    line: int
    outcome: MigrationOutcome
    reason: str
    def __init__(self, line: _Optional[int] = ..., customer_id: _Optional[str] = ..., outcome: _Optional[_Union[MigrationOutcome, str]] = ..., reason: _Optional[str] = ..., explanation: _Optional[str] = ..., input: _Optional[str] = ...) -> None: ...

class MigrationInputFormat(_message.Message):
    __slots__ = ["customer_column", "delimiter", "original_transaction_id_column", "receipt_column", "syntax"]
    CUSTOMER_COLUMN_FIELD_NUMBER: _ClassVar[int]
    DELIMITER_FIELD_NUMBER: _ClassVar[int]
    ORIGINAL_TRANSACTION_ID_COLUMN_FIELD_NUMBER: _ClassVar[int]
    RECEIPT_COLUMN_FIELD_NUMBER: _ClassVar[int]
    SYNTAX_FIELD_NUMBER: _ClassVar[int]
    customer_column: str
    delimiter: str
    original_transaction_id_column: str
    receipt_column: str
    syntax: MigrationInputSyntax
    def __init__(self, syntax: _Optional[_Union[MigrationInputSyntax, str]] = ..., customer_column: _Optional[str] = ..., receipt_column: _Optional[str] = ..., original_transaction_id_column: _Optional[str] = ..., delimiter: _Optional[str] = ...) -> None: ...

class MigrationReasonCount(_message.Message):
    __slots__ = ["count", "outcome", "reason"]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    count: int
    outcome: MigrationOutcome
    reason: str
    def __init__(self, outcome: _Optional[_Union[MigrationOutcome, str]] = ..., reason: _Optional[str] = ..., count: _Optional[int] = ...) -> None: ...

class PurgeMigrationRequest(_message.Message):
    __slots__ = ["actor", "app", "migration_id", "note"]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    APP_FIELD_NUMBER: _ClassVar[int]
    MIGRATION_ID_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    actor: str
    app: str
    migration_id: str
    note: str
    def __init__(self, app: _Optional[str] = ..., migration_id: _Optional[str] = ..., note: _Optional[str] = ..., actor: _Optional[str] = ...) -> None: ...

class PurgeMigrationResponse(_message.Message):
    __slots__ = ["migration", "position"]
    MIGRATION_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    migration: Migration
    position: str
    def __init__(self, migration: _Optional[_Union[Migration, _Mapping[str, _Any]]] = ..., position: _Optional[str] = ...) -> None: ...

class ReceiptProblem(_message.Message):
    __slots__ = ["explanation", "original_transaction_id", "reason"]
    EXPLANATION_FIELD_NUMBER: _ClassVar[int]
    ORIGINAL_TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    explanation: str
    original_transaction_id: str
    reason: str
    def __init__(self, original_transaction_id: _Optional[str] = ..., reason: _Optional[str] = ..., explanation: _Optional[str] = ...) -> None: ...

class SignOfferRequest(_message.Message):
    __slots__ = ["advanced_commerce_request_json", "allow_introductory_offer", "app", "app_account_token", "customer_id", "environment", "form", "offer_identifier", "product_id", "skip_eligibility_check", "transaction_id"]
    ADVANCED_COMMERCE_REQUEST_JSON_FIELD_NUMBER: _ClassVar[int]
    ALLOW_INTRODUCTORY_OFFER_FIELD_NUMBER: _ClassVar[int]
    APP_ACCOUNT_TOKEN_FIELD_NUMBER: _ClassVar[int]
    APP_FIELD_NUMBER: _ClassVar[int]
    CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    FORM_FIELD_NUMBER: _ClassVar[int]
    OFFER_IDENTIFIER_FIELD_NUMBER: _ClassVar[int]
    PRODUCT_ID_FIELD_NUMBER: _ClassVar[int]
    SKIP_ELIGIBILITY_CHECK_FIELD_NUMBER: _ClassVar[int]
    TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    advanced_commerce_request_json: str
    allow_introductory_offer: bool
    app: str
    app_account_token: str
    customer_id: str
    environment: _environment_pb2.Environment
    form: OfferSignatureForm
    offer_identifier: str
    product_id: str
    skip_eligibility_check: bool
    transaction_id: str
    def __init__(self, app: _Optional[str] = ..., customer_id: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., form: _Optional[_Union[OfferSignatureForm, str]] = ..., product_id: _Optional[str] = ..., offer_identifier: _Optional[str] = ..., app_account_token: _Optional[str] = ..., transaction_id: _Optional[str] = ..., allow_introductory_offer: bool = ..., advanced_commerce_request_json: _Optional[str] = ..., skip_eligibility_check: bool = ...) -> None: ...

class SignOfferResponse(_message.Message):
    __slots__ = ["key_identifier", "nonce", "signature", "timestamp"]
    KEY_IDENTIFIER_FIELD_NUMBER: _ClassVar[int]
    NONCE_FIELD_NUMBER: _ClassVar[int]
    SIGNATURE_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    key_identifier: str
    nonce: str
    signature: str
    timestamp: int
    def __init__(self, signature: _Optional[str] = ..., key_identifier: _Optional[str] = ..., nonce: _Optional[str] = ..., timestamp: _Optional[int] = ...) -> None: ...

class StartMigrationRequest(_message.Message):
    __slots__ = ["actor", "app", "concurrency", "dry_run", "environment", "format", "idempotency_key", "input_path", "link_unverified_ids", "note", "upload_id"]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    APP_FIELD_NUMBER: _ClassVar[int]
    CONCURRENCY_FIELD_NUMBER: _ClassVar[int]
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    INPUT_PATH_FIELD_NUMBER: _ClassVar[int]
    LINK_UNVERIFIED_IDS_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    UPLOAD_ID_FIELD_NUMBER: _ClassVar[int]
    actor: str
    app: str
    concurrency: int
    dry_run: bool
    environment: _environment_pb2.Environment
    format: MigrationInputFormat
    idempotency_key: str
    input_path: str
    link_unverified_ids: bool
    note: str
    upload_id: str
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., input_path: _Optional[str] = ..., upload_id: _Optional[str] = ..., concurrency: _Optional[int] = ..., dry_run: bool = ..., idempotency_key: _Optional[str] = ..., format: _Optional[_Union[MigrationInputFormat, _Mapping[str, _Any]]] = ..., link_unverified_ids: bool = ..., actor: _Optional[str] = ..., note: _Optional[str] = ...) -> None: ...

class StartMigrationResponse(_message.Message):
    __slots__ = ["migration", "position", "repeated"]
    MIGRATION_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    REPEATED_FIELD_NUMBER: _ClassVar[int]
    migration: Migration
    position: str
    repeated: bool
    def __init__(self, migration: _Optional[_Union[Migration, _Mapping[str, _Any]]] = ..., repeated: bool = ..., position: _Optional[str] = ...) -> None: ...

class SubmissionOutcome(_message.Message):
    __slots__ = ["error", "response"]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_FIELD_NUMBER: _ClassVar[int]
    error: _status_pb2.Status
    response: SubmitTransactionResponse
    def __init__(self, response: _Optional[_Union[SubmitTransactionResponse, _Mapping[str, _Any]]] = ..., error: _Optional[_Union[_status_pb2.Status, _Mapping[str, _Any]]] = ...) -> None: ...

class SubmitReceiptRequest(_message.Message):
    __slots__ = ["app", "customer_id", "device_identifier", "receipt_base64", "receipt_bytes"]
    APP_FIELD_NUMBER: _ClassVar[int]
    CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    DEVICE_IDENTIFIER_FIELD_NUMBER: _ClassVar[int]
    RECEIPT_BASE64_FIELD_NUMBER: _ClassVar[int]
    RECEIPT_BYTES_FIELD_NUMBER: _ClassVar[int]
    app: str
    customer_id: str
    device_identifier: bytes
    receipt_base64: str
    receipt_bytes: bytes
    def __init__(self, app: _Optional[str] = ..., customer_id: _Optional[str] = ..., receipt_base64: _Optional[str] = ..., receipt_bytes: _Optional[bytes] = ..., device_identifier: _Optional[bytes] = ...) -> None: ...

class SubmitReceiptResponse(_message.Message):
    __slots__ = ["already_known", "customer_id", "entitlements", "environment", "evidence_id", "kind", "original_application_version", "original_transaction_ids", "position", "problems", "product_states", "refresh_pending", "refresh_reason", "transactions"]
    ALREADY_KNOWN_FIELD_NUMBER: _ClassVar[int]
    CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    ENTITLEMENTS_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    ORIGINAL_APPLICATION_VERSION_FIELD_NUMBER: _ClassVar[int]
    ORIGINAL_TRANSACTION_IDS_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    PROBLEMS_FIELD_NUMBER: _ClassVar[int]
    PRODUCT_STATES_FIELD_NUMBER: _ClassVar[int]
    REFRESH_PENDING_FIELD_NUMBER: _ClassVar[int]
    REFRESH_REASON_FIELD_NUMBER: _ClassVar[int]
    TRANSACTIONS_FIELD_NUMBER: _ClassVar[int]
    already_known: bool
    customer_id: str
    entitlements: _containers.RepeatedCompositeFieldContainer[_entitlement_pb2.Entitlement]
    environment: _environment_pb2.Environment
    evidence_id: int
    kind: DocumentKind
    original_application_version: str
    original_transaction_ids: _containers.RepeatedScalarFieldContainer[str]
    position: str
    problems: _containers.RepeatedCompositeFieldContainer[ReceiptProblem]
    product_states: _containers.RepeatedCompositeFieldContainer[SubmittedProductState]
    refresh_pending: bool
    refresh_reason: str
    transactions: _containers.RepeatedCompositeFieldContainer[_transaction_pb2.Transaction]
    def __init__(self, evidence_id: _Optional[int] = ..., already_known: bool = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., transactions: _Optional[_Iterable[_Union[_transaction_pb2.Transaction, _Mapping[str, _Any]]]] = ..., entitlements: _Optional[_Iterable[_Union[_entitlement_pb2.Entitlement, _Mapping[str, _Any]]]] = ..., original_application_version: _Optional[str] = ..., refresh_pending: bool = ..., product_states: _Optional[_Iterable[_Union[SubmittedProductState, _Mapping[str, _Any]]]] = ..., customer_id: _Optional[str] = ..., original_transaction_ids: _Optional[_Iterable[str]] = ..., refresh_reason: _Optional[str] = ..., problems: _Optional[_Iterable[_Union[ReceiptProblem, _Mapping[str, _Any]]]] = ..., kind: _Optional[_Union[DocumentKind, str]] = ..., position: _Optional[str] = ...) -> None: ...

class SubmitTransactionRequest(_message.Message):
    __slots__ = ["app", "customer_id", "signed_app_transaction", "signed_renewal_info", "signed_transaction"]
    APP_FIELD_NUMBER: _ClassVar[int]
    CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    SIGNED_APP_TRANSACTION_FIELD_NUMBER: _ClassVar[int]
    SIGNED_RENEWAL_INFO_FIELD_NUMBER: _ClassVar[int]
    SIGNED_TRANSACTION_FIELD_NUMBER: _ClassVar[int]
    app: str
    customer_id: str
    signed_app_transaction: str
    signed_renewal_info: str
    signed_transaction: str
    def __init__(self, app: _Optional[str] = ..., customer_id: _Optional[str] = ..., signed_transaction: _Optional[str] = ..., signed_renewal_info: _Optional[str] = ..., signed_app_transaction: _Optional[str] = ...) -> None: ...

class SubmitTransactionResponse(_message.Message):
    __slots__ = ["already_known", "certificates_checked_at", "customer_id", "entitlements", "environment", "evidence_id", "position", "renewal_info", "transaction"]
    ALREADY_KNOWN_FIELD_NUMBER: _ClassVar[int]
    CERTIFICATES_CHECKED_AT_FIELD_NUMBER: _ClassVar[int]
    CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    ENTITLEMENTS_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_ID_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    RENEWAL_INFO_FIELD_NUMBER: _ClassVar[int]
    TRANSACTION_FIELD_NUMBER: _ClassVar[int]
    already_known: bool
    certificates_checked_at: _timestamp_pb2.Timestamp
    customer_id: str
    entitlements: _containers.RepeatedCompositeFieldContainer[_entitlement_pb2.Entitlement]
    environment: _environment_pb2.Environment
    evidence_id: int
    position: str
    renewal_info: _transaction_pb2.RenewalInfo
    transaction: _transaction_pb2.Transaction
    def __init__(self, evidence_id: _Optional[int] = ..., already_known: bool = ..., transaction: _Optional[_Union[_transaction_pb2.Transaction, _Mapping[str, _Any]]] = ..., renewal_info: _Optional[_Union[_transaction_pb2.RenewalInfo, _Mapping[str, _Any]]] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., entitlements: _Optional[_Iterable[_Union[_entitlement_pb2.Entitlement, _Mapping[str, _Any]]]] = ..., customer_id: _Optional[str] = ..., certificates_checked_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., position: _Optional[str] = ...) -> None: ...

class SubmitTransactionsRequest(_message.Message):
    __slots__ = ["app", "customer_id", "submissions"]
    APP_FIELD_NUMBER: _ClassVar[int]
    CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    SUBMISSIONS_FIELD_NUMBER: _ClassVar[int]
    app: str
    customer_id: str
    submissions: _containers.RepeatedCompositeFieldContainer[SubmittedDocuments]
    def __init__(self, app: _Optional[str] = ..., customer_id: _Optional[str] = ..., submissions: _Optional[_Iterable[_Union[SubmittedDocuments, _Mapping[str, _Any]]]] = ...) -> None: ...

class SubmitTransactionsResponse(_message.Message):
    __slots__ = ["position", "results"]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    position: str
    results: _containers.RepeatedCompositeFieldContainer[SubmissionOutcome]
    def __init__(self, results: _Optional[_Iterable[_Union[SubmissionOutcome, _Mapping[str, _Any]]]] = ..., position: _Optional[str] = ...) -> None: ...

class SubmittedDocuments(_message.Message):
    __slots__ = ["signed_app_transaction", "signed_renewal_info", "signed_transaction"]
    SIGNED_APP_TRANSACTION_FIELD_NUMBER: _ClassVar[int]
    SIGNED_RENEWAL_INFO_FIELD_NUMBER: _ClassVar[int]
    SIGNED_TRANSACTION_FIELD_NUMBER: _ClassVar[int]
    signed_app_transaction: str
    signed_renewal_info: str
    signed_transaction: str
    def __init__(self, signed_transaction: _Optional[str] = ..., signed_renewal_info: _Optional[str] = ..., signed_app_transaction: _Optional[str] = ...) -> None: ...

class SubmittedProductState(_message.Message):
    __slots__ = ["product_id", "state"]
    PRODUCT_ID_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    product_id: str
    state: _product_pb2.ProductState
    def __init__(self, product_id: _Optional[str] = ..., state: _Optional[_Union[_product_pb2.ProductState, str]] = ...) -> None: ...

class UploadMigrationInputRequest(_message.Message):
    __slots__ = ["app", "data", "offset", "upload_id"]
    APP_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    UPLOAD_ID_FIELD_NUMBER: _ClassVar[int]
    app: str
    data: bytes
    offset: int
    upload_id: str
    def __init__(self, app: _Optional[str] = ..., upload_id: _Optional[str] = ..., offset: _Optional[int] = ..., data: _Optional[bytes] = ...) -> None: ...

class UploadMigrationInputResponse(_message.Message):
    __slots__ = ["size"]
    SIZE_FIELD_NUMBER: _ClassVar[int]
    size: int
    def __init__(self, size: _Optional[int] = ...) -> None: ...

class DocumentKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []

class MigrationOutcome(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []

class MigrationInputSyntax(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []

class MigrationState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []

class OfferSignatureForm(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []

class DisagreementKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []
