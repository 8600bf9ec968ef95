from entitled.v1 import access_pb2 as _access_pb2
from entitled.v1 import entitlement_pb2 as _entitlement_pb2
from entitled.v1 import environment_pb2 as _environment_pb2
from entitled.v1 import transaction_pb2 as _transaction_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import Any as _Any, ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

ADVANCED_COMMERCE_ACTION_CANCEL: AdvancedCommerceAction
ADVANCED_COMMERCE_ACTION_CHANGE_METADATA: AdvancedCommerceAction
ADVANCED_COMMERCE_ACTION_CHANGE_PRICE: AdvancedCommerceAction
ADVANCED_COMMERCE_ACTION_MIGRATE: AdvancedCommerceAction
ADVANCED_COMMERCE_ACTION_REQUEST_REFUND: AdvancedCommerceAction
ADVANCED_COMMERCE_ACTION_REVOKE: AdvancedCommerceAction
ADVANCED_COMMERCE_ACTION_UNSPECIFIED: AdvancedCommerceAction
CONSENT_WITHDRAWAL_STATE_OPEN: ConsentWithdrawalState
CONSENT_WITHDRAWAL_STATE_OVERDUE: ConsentWithdrawalState
CONSENT_WITHDRAWAL_STATE_SETTLED: ConsentWithdrawalState
CONSENT_WITHDRAWAL_STATE_UNSPECIFIED: ConsentWithdrawalState
CONSUMPTION_REQUEST_STATE_ANSWERED: ConsumptionRequestState
CONSUMPTION_REQUEST_STATE_DECIDED: ConsumptionRequestState
CONSUMPTION_REQUEST_STATE_MISSED: ConsumptionRequestState
CONSUMPTION_REQUEST_STATE_OPEN: ConsumptionRequestState
CONSUMPTION_REQUEST_STATE_REJECTED: ConsumptionRequestState
CONSUMPTION_REQUEST_STATE_UNSPECIFIED: ConsumptionRequestState
DELIVERY_STATUS_DELIVERED: DeliveryStatus
DELIVERY_STATUS_UNDELIVERED_OTHER: DeliveryStatus
DELIVERY_STATUS_UNDELIVERED_QUALITY_ISSUE: DeliveryStatus
DELIVERY_STATUS_UNDELIVERED_SERVER_OUTAGE: DeliveryStatus
DELIVERY_STATUS_UNDELIVERED_WRONG_ITEM: DeliveryStatus
DELIVERY_STATUS_UNSPECIFIED: DeliveryStatus
DESCRIPTOR: _descriptor.FileDescriptor
EXTEND_REASON_CUSTOMER_SATISFACTION: ExtendReason
EXTEND_REASON_OTHER: ExtendReason
EXTEND_REASON_SERVICE_ISSUE: ExtendReason
EXTEND_REASON_UNDECLARED: ExtendReason
EXTEND_REASON_UNSPECIFIED: ExtendReason
EXTERNAL_TOKEN_STATE_OVERDUE: ExternalTokenState
EXTERNAL_TOKEN_STATE_REPORTED: ExternalTokenState
EXTERNAL_TOKEN_STATE_UNREPORTED: ExternalTokenState
EXTERNAL_TOKEN_STATE_UNSPECIFIED: ExternalTokenState
REFUND_PREFERENCE_DECLINE: RefundPreference
REFUND_PREFERENCE_GRANT_FULL: RefundPreference
REFUND_PREFERENCE_GRANT_PRORATED: RefundPreference
REFUND_PREFERENCE_UNSPECIFIED: RefundPreference

class AssociateSeatRequest(_message.Message):
    __slots__ = ["actor", "app", "customer_id", "environment", "idempotency_key", "note", "original_transaction_id", "seat_id"]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    APP_FIELD_NUMBER: _ClassVar[int]
    CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    ORIGINAL_TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    SEAT_ID_FIELD_NUMBER: _ClassVar[int]
    actor: str
    app: str
    customer_id: str
    environment: _environment_pb2.Environment
    idempotency_key: str
    note: str
    original_transaction_id: str
    seat_id: str
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., original_transaction_id: _Optional[str] = ..., seat_id: _Optional[str] = ..., customer_id: _Optional[str] = ..., actor: _Optional[str] = ..., note: _Optional[str] = ..., idempotency_key: _Optional[str] = ...) -> None: ...

class AssociateSeatResponse(_message.Message):
    __slots__ = ["position", "repeated", "seat"]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    REPEATED_FIELD_NUMBER: _ClassVar[int]
    SEAT_FIELD_NUMBER: _ClassVar[int]
    position: str
    repeated: bool
    seat: Seat
    def __init__(self, seat: _Optional[_Union[Seat, _Mapping[str, _Any]]] = ..., repeated: bool = ..., position: _Optional[str] = ...) -> None: ...

class ClaimSeatRequest(_message.Message):
    __slots__ = ["actor", "app", "customer_id", "environment", "idempotency_key", "note", "original_transaction_id", "request_identifier"]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    APP_FIELD_NUMBER: _ClassVar[int]
    CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    ORIGINAL_TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    REQUEST_IDENTIFIER_FIELD_NUMBER: _ClassVar[int]
    actor: str
    app: str
    customer_id: str
    environment: _environment_pb2.Environment
    idempotency_key: str
    note: str
    original_transaction_id: str
    request_identifier: str
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., original_transaction_id: _Optional[str] = ..., customer_id: _Optional[str] = ..., request_identifier: _Optional[str] = ..., actor: _Optional[str] = ..., note: _Optional[str] = ..., idempotency_key: _Optional[str] = ...) -> None: ...

class ClaimSeatResponse(_message.Message):
    __slots__ = ["position", "repeated", "seat"]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    REPEATED_FIELD_NUMBER: _ClassVar[int]
    SEAT_FIELD_NUMBER: _ClassVar[int]
    position: str
    repeated: bool
    seat: Seat
    def __init__(self, seat: _Optional[_Union[Seat, _Mapping[str, _Any]]] = ..., repeated: bool = ..., position: _Optional[str] = ...) -> None: ...

class ConsentWithdrawal(_message.Message):
    __slots__ = ["app_transaction_id", "customer_ids", "ends_access", "environment", "evidence_id", "settle_by", "settled_at", "settlement_evidence_id", "state", "withdrawn_at"]
    APP_TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    CUSTOMER_IDS_FIELD_NUMBER: _ClassVar[int]
    ENDS_ACCESS_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_ID_FIELD_NUMBER: _ClassVar[int]
    SETTLED_AT_FIELD_NUMBER: _ClassVar[int]
    SETTLEMENT_EVIDENCE_ID_FIELD_NUMBER: _ClassVar[int]
    SETTLE_BY_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    WITHDRAWN_AT_FIELD_NUMBER: _ClassVar[int]
    app_transaction_id: str
    customer_ids: _containers.RepeatedScalarFieldContainer[str]
    ends_access: bool
    environment: _environment_pb2.Environment
    evidence_id: int
    settle_by: _timestamp_pb2.Timestamp
    settled_at: _timestamp_pb2.Timestamp
    settlement_evidence_id: int
    state: ConsentWithdrawalState
    withdrawn_at: _timestamp_pb2.Timestamp
    def __init__(self, app_transaction_id: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., customer_ids: _Optional[_Iterable[str]] = ..., withdrawn_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., settle_by: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., state: _Optional[_Union[ConsentWithdrawalState, str]] = ..., settled_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., evidence_id: _Optional[int] = ..., settlement_evidence_id: _Optional[int] = ..., ends_access: bool = ...) -> None: ...

class ConsumptionRequest(_message.Message):
    __slots__ = ["answer_by", "attempts", "consumption_percentage", "customer_id", "environment", "evidence_id", "original_transaction_id", "product_id", "reason", "requested_at", "settled_at", "state", "state_reason", "transaction_id"]
    ANSWER_BY_FIELD_NUMBER: _ClassVar[int]
    ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    CONSUMPTION_PERCENTAGE_FIELD_NUMBER: _ClassVar[int]
    CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_ID_FIELD_NUMBER: _ClassVar[int]
    ORIGINAL_TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    PRODUCT_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    REQUESTED_AT_FIELD_NUMBER: _ClassVar[int]
    SETTLED_AT_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    STATE_REASON_FIELD_NUMBER: _ClassVar[int]
    TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    answer_by: _timestamp_pb2.Timestamp
    attempts: int
    consumption_percentage: int
    customer_id: str
    environment: _environment_pb2.Environment
    evidence_id: int
    original_transaction_id: str
    product_id: str
    reason: str
    requested_at: _timestamp_pb2.Timestamp
    settled_at: _timestamp_pb2.Timestamp
    state: ConsumptionRequestState
    state_reason: str
    transaction_id: str
    def __init__(self, evidence_id: _Optional[int] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., customer_id: _Optional[str] = ..., product_id: _Optional[str] = ..., transaction_id: _Optional[str] = ..., original_transaction_id: _Optional[str] = ..., reason: _Optional[str] = ..., requested_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., answer_by: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., state: _Optional[_Union[ConsumptionRequestState, str]] = ..., state_reason: _Optional[str] = ..., attempts: _Optional[int] = ..., settled_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., consumption_percentage: _Optional[int] = ...) -> None: ...

class CustomerGroup(_message.Message):
    __slots__ = ["group_id", "group_type", "roles"]
    GROUP_ID_FIELD_NUMBER: _ClassVar[int]
    GROUP_TYPE_FIELD_NUMBER: _ClassVar[int]
    ROLES_FIELD_NUMBER: _ClassVar[int]
    group_id: str
    group_type: str
    roles: _containers.RepeatedCompositeFieldContainer[CustomerGroupRole]
    def __init__(self, group_id: _Optional[str] = ..., group_type: _Optional[str] = ..., roles: _Optional[_Iterable[_Union[CustomerGroupRole, _Mapping[str, _Any]]]] = ...) -> None: ...

class CustomerGroupRole(_message.Message):
    __slots__ = ["product_id", "role"]
    PRODUCT_ID_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    product_id: str
    role: str
    def __init__(self, product_id: _Optional[str] = ..., role: _Optional[str] = ...) -> None: ...

class ExtendRenewalDateRequest(_message.Message):
    __slots__ = ["actor", "app", "environment", "extend_by_days", "idempotency_key", "note", "original_transaction_id", "reason", "request_identifier"]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    APP_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    EXTEND_BY_DAYS_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    ORIGINAL_TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    REQUEST_IDENTIFIER_FIELD_NUMBER: _ClassVar[int]
    actor: str
    app: str
    environment: _environment_pb2.Environment
    extend_by_days: int
    idempotency_key: str
    note: str
    original_transaction_id: str
    reason: ExtendReason
    request_identifier: str
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., original_transaction_id: _Optional[str] = ..., extend_by_days: _Optional[int] = ..., reason: _Optional[_Union[ExtendReason, str]] = ..., request_identifier: _Optional[str] = ..., actor: _Optional[str] = ..., note: _Optional[str] = ..., idempotency_key: _Optional[str] = ...) -> None: ...

class ExtendRenewalDateResponse(_message.Message):
    __slots__ = ["effective_date", "position", "repeated", "web_order_line_item_id"]
    EFFECTIVE_DATE_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    REPEATED_FIELD_NUMBER: _ClassVar[int]
    WEB_ORDER_LINE_ITEM_ID_FIELD_NUMBER: _ClassVar[int]
    effective_date: _timestamp_pb2.Timestamp
    position: str
    repeated: bool
    web_order_line_item_id: str
    def __init__(self, web_order_line_item_id: _Optional[str] = ..., effective_date: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., repeated: bool = ..., position: _Optional[str] = ...) -> None: ...

class ExternalPurchaseToken(_message.Message):
    __slots__ = ["complained_at", "created_at", "environment", "evidence_id", "expires_at", "external_purchase_id", "report_by", "report_status", "reported_at", "request_identifier", "state", "token_type"]
    COMPLAINED_AT_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_ID_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    EXTERNAL_PURCHASE_ID_FIELD_NUMBER: _ClassVar[int]
    REPORTED_AT_FIELD_NUMBER: _ClassVar[int]
    REPORT_BY_FIELD_NUMBER: _ClassVar[int]
    REPORT_STATUS_FIELD_NUMBER: _ClassVar[int]
    REQUEST_IDENTIFIER_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    TOKEN_TYPE_FIELD_NUMBER: _ClassVar[int]
    complained_at: _timestamp_pb2.Timestamp
    created_at: _timestamp_pb2.Timestamp
    environment: _environment_pb2.Environment
    evidence_id: int
    expires_at: _timestamp_pb2.Timestamp
    external_purchase_id: str
    report_by: _timestamp_pb2.Timestamp
    report_status: str
    reported_at: _timestamp_pb2.Timestamp
    request_identifier: str
    state: ExternalTokenState
    token_type: str
    def __init__(self, external_purchase_id: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., token_type: _Optional[str] = ..., created_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., expires_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., report_by: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., state: _Optional[_Union[ExternalTokenState, str]] = ..., complained_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., reported_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., report_status: _Optional[str] = ..., request_identifier: _Optional[str] = ..., evidence_id: _Optional[int] = ...) -> None: ...

class FinishTransactionRequest(_message.Message):
    __slots__ = ["actor", "app", "environment", "idempotency_key", "note", "transaction_id"]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    APP_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    actor: str
    app: str
    environment: _environment_pb2.Environment
    idempotency_key: str
    note: str
    transaction_id: str
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., transaction_id: _Optional[str] = ..., actor: _Optional[str] = ..., note: _Optional[str] = ..., idempotency_key: _Optional[str] = ...) -> None: ...

class FinishTransactionResponse(_message.Message):
    __slots__ = ["finished_at", "position", "repeated"]
    FINISHED_AT_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    REPEATED_FIELD_NUMBER: _ClassVar[int]
    finished_at: _timestamp_pb2.Timestamp
    position: str
    repeated: bool
    def __init__(self, finished_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., repeated: bool = ..., position: _Optional[str] = ...) -> None: ...

class GetAppTransactionInfoRequest(_message.Message):
    __slots__ = ["actor", "app", "customer_id", "environment", "note", "transaction_id"]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    APP_FIELD_NUMBER: _ClassVar[int]
    CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    actor: str
    app: str
    customer_id: str
    environment: _environment_pb2.Environment
    note: str
    transaction_id: str
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., transaction_id: _Optional[str] = ..., customer_id: _Optional[str] = ..., note: _Optional[str] = ..., actor: _Optional[str] = ...) -> None: ...

class GetAppTransactionInfoResponse(_message.Message):
    __slots__ = ["app_transaction_id", "changed", "customer_id", "original_application_version", "original_platform", "original_purchase_date", "position", "preorder_date"]
    APP_TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    CHANGED_FIELD_NUMBER: _ClassVar[int]
    CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    ORIGINAL_APPLICATION_VERSION_FIELD_NUMBER: _ClassVar[int]
    ORIGINAL_PLATFORM_FIELD_NUMBER: _ClassVar[int]
    ORIGINAL_PURCHASE_DATE_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    PREORDER_DATE_FIELD_NUMBER: _ClassVar[int]
    app_transaction_id: str
    changed: bool
    customer_id: str
    original_application_version: str
    original_platform: str
    original_purchase_date: _timestamp_pb2.Timestamp
    position: str
    preorder_date: _timestamp_pb2.Timestamp
    def __init__(self, app_transaction_id: _Optional[str] = ..., original_application_version: _Optional[str] = ..., original_purchase_date: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., preorder_date: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., original_platform: _Optional[str] = ..., customer_id: _Optional[str] = ..., changed: bool = ..., position: _Optional[str] = ...) -> None: ...

class GetCustomerGroupsRequest(_message.Message):
    __slots__ = ["app", "environment", "transaction_id"]
    APP_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    app: str
    environment: _environment_pb2.Environment
    transaction_id: str
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., transaction_id: _Optional[str] = ...) -> None: ...

class GetCustomerGroupsResponse(_message.Message):
    __slots__ = ["groups"]
    GROUPS_FIELD_NUMBER: _ClassVar[int]
    groups: _containers.RepeatedCompositeFieldContainer[CustomerGroup]
    def __init__(self, groups: _Optional[_Iterable[_Union[CustomerGroup, _Mapping[str, _Any]]]] = ...) -> None: ...

class GetExternalPurchaseReportRequest(_message.Message):
    __slots__ = ["app", "environment", "request_identifier"]
    APP_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    REQUEST_IDENTIFIER_FIELD_NUMBER: _ClassVar[int]
    app: str
    environment: _environment_pb2.Environment
    request_identifier: str
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., request_identifier: _Optional[str] = ...) -> None: ...

class GetExternalPurchaseReportResponse(_message.Message):
    __slots__ = ["report_json"]
    REPORT_JSON_FIELD_NUMBER: _ClassVar[int]
    report_json: str
    def __init__(self, report_json: _Optional[str] = ...) -> None: ...

class GetMassExtensionStatusRequest(_message.Message):
    __slots__ = ["app", "environment", "product_id", "request_identifier"]
    APP_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    PRODUCT_ID_FIELD_NUMBER: _ClassVar[int]
    REQUEST_IDENTIFIER_FIELD_NUMBER: _ClassVar[int]
    app: str
    environment: _environment_pb2.Environment
    product_id: str
    request_identifier: str
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., product_id: _Optional[str] = ..., request_identifier: _Optional[str] = ...) -> None: ...

class GetMassExtensionStatusResponse(_message.Message):
    __slots__ = ["complete", "complete_date", "failed_count", "succeeded_count"]
    COMPLETE_DATE_FIELD_NUMBER: _ClassVar[int]
    COMPLETE_FIELD_NUMBER: _ClassVar[int]
    FAILED_COUNT_FIELD_NUMBER: _ClassVar[int]
    SUCCEEDED_COUNT_FIELD_NUMBER: _ClassVar[int]
    complete: bool
    complete_date: _timestamp_pb2.Timestamp
    failed_count: int
    succeeded_count: int
    def __init__(self, complete: bool = ..., complete_date: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., succeeded_count: _Optional[int] = ..., failed_count: _Optional[int] = ...) -> None: ...

class GetRefundHistoryRequest(_message.Message):
    __slots__ = ["app", "environment", "page_token", "transaction_id"]
    APP_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    app: str
    environment: _environment_pb2.Environment
    page_token: str
    transaction_id: str
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., transaction_id: _Optional[str] = ..., page_token: _Optional[str] = ...) -> None: ...

class GetRefundHistoryResponse(_message.Message):
    __slots__ = ["next_page_token", "position", "transactions"]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    TRANSACTIONS_FIELD_NUMBER: _ClassVar[int]
    next_page_token: str
    position: str
    transactions: _containers.RepeatedCompositeFieldContainer[_transaction_pb2.Transaction]
    def __init__(self, transactions: _Optional[_Iterable[_Union[_transaction_pb2.Transaction, _Mapping[str, _Any]]]] = ..., next_page_token: _Optional[str] = ..., position: _Optional[str] = ...) -> None: ...

class GetSeatInfoRequest(_message.Message):
    __slots__ = ["app", "environment", "original_transaction_id"]
    APP_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    ORIGINAL_TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    app: str
    environment: _environment_pb2.Environment
    original_transaction_id: str
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., original_transaction_id: _Optional[str] = ...) -> None: ...

class GetSeatInfoResponse(_message.Message):
    __slots__ = ["assigned_seat_claim_ids", "available_seat_count", "total_seat_count"]
    ASSIGNED_SEAT_CLAIM_IDS_FIELD_NUMBER: _ClassVar[int]
    AVAILABLE_SEAT_COUNT_FIELD_NUMBER: _ClassVar[int]
    TOTAL_SEAT_COUNT_FIELD_NUMBER: _ClassVar[int]
    assigned_seat_claim_ids: _containers.RepeatedScalarFieldContainer[str]
    available_seat_count: int
    total_seat_count: int
    def __init__(self, total_seat_count: _Optional[int] = ..., available_seat_count: _Optional[int] = ..., assigned_seat_claim_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class GetTransactionInfoRequest(_message.Message):
    __slots__ = ["actor", "app", "environment", "note", "transaction_id"]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    APP_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    actor: str
    app: str
    environment: _environment_pb2.Environment
    note: str
    transaction_id: str
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., transaction_id: _Optional[str] = ..., note: _Optional[str] = ..., actor: _Optional[str] = ...) -> None: ...

class GetTransactionInfoResponse(_message.Message):
    __slots__ = ["changed", "customer_id", "position", "transaction"]
    CHANGED_FIELD_NUMBER: _ClassVar[int]
    CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    TRANSACTION_FIELD_NUMBER: _ClassVar[int]
    changed: bool
    customer_id: str
    position: str
    transaction: _transaction_pb2.Transaction
    def __init__(self, transaction: _Optional[_Union[_transaction_pb2.Transaction, _Mapping[str, _Any]]] = ..., customer_id: _Optional[str] = ..., changed: bool = ..., position: _Optional[str] = ...) -> None: ...

class GroupMember(_message.Message):
    __slots__ = ["app_transaction_id", "customer_ids"]
    APP_TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    CUSTOMER_IDS_FIELD_NUMBER: _ClassVar[int]
    app_transaction_id: str
    customer_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, app_transaction_id: _Optional[str] = ..., customer_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class ListConsentWithdrawalsRequest(_message.Message):
    __slots__ = ["app", "customer_id", "environment", "include_settled", "page_size", "page_token"]
    APP_FIELD_NUMBER: _ClassVar[int]
    CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_SETTLED_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    app: str
    customer_id: str
    environment: _environment_pb2.Environment
    include_settled: bool
    page_size: int
    page_token: str
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., include_settled: bool = ..., customer_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListConsentWithdrawalsResponse(_message.Message):
    __slots__ = ["next_page_token", "withdrawals"]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    WITHDRAWALS_FIELD_NUMBER: _ClassVar[int]
    next_page_token: str
    withdrawals: _containers.RepeatedCompositeFieldContainer[ConsentWithdrawal]
    def __init__(self, withdrawals: _Optional[_Iterable[_Union[ConsentWithdrawal, _Mapping[str, _Any]]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ListConsumptionRequestsRequest(_message.Message):
    __slots__ = ["app", "customer_id", "environment", "page_size", "page_token", "state"]
    APP_FIELD_NUMBER: _ClassVar[int]
    CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    app: str
    customer_id: str
    environment: _environment_pb2.Environment
    page_size: int
    page_token: str
    state: ConsumptionRequestState
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., state: _Optional[_Union[ConsumptionRequestState, str]] = ..., customer_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListConsumptionRequestsResponse(_message.Message):
    __slots__ = ["next_page_token", "requests"]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    REQUESTS_FIELD_NUMBER: _ClassVar[int]
    next_page_token: str
    requests: _containers.RepeatedCompositeFieldContainer[ConsumptionRequest]
    def __init__(self, requests: _Optional[_Iterable[_Union[ConsumptionRequest, _Mapping[str, _Any]]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ListExternalPurchaseTokensRequest(_message.Message):
    __slots__ = ["app", "environment", "include_reported", "page_size", "page_token"]
    APP_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_REPORTED_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    app: str
    environment: _environment_pb2.Environment
    include_reported: bool
    page_size: int
    page_token: str
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., include_reported: bool = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListExternalPurchaseTokensResponse(_message.Message):
    __slots__ = ["next_page_token", "tokens"]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    next_page_token: str
    tokens: _containers.RepeatedCompositeFieldContainer[ExternalPurchaseToken]
    def __init__(self, tokens: _Optional[_Iterable[_Union[ExternalPurchaseToken, _Mapping[str, _Any]]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ListGroupMembersRequest(_message.Message):
    __slots__ = ["app", "environment", "group_id", "page_size", "page_token"]
    APP_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    GROUP_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    app: str
    environment: _environment_pb2.Environment
    group_id: str
    page_size: int
    page_token: str
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., group_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListGroupMembersResponse(_message.Message):
    __slots__ = ["members", "next_page_token"]
    MEMBERS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    members: _containers.RepeatedCompositeFieldContainer[GroupMember]
    next_page_token: str
    def __init__(self, members: _Optional[_Iterable[_Union[GroupMember, _Mapping[str, _Any]]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ListSeatsRequest(_message.Message):
    __slots__ = ["app", "environment", "original_transaction_id", "page_size", "page_token"]
    APP_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    ORIGINAL_TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    app: str
    environment: _environment_pb2.Environment
    original_transaction_id: str
    page_size: int
    page_token: str
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., original_transaction_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListSeatsResponse(_message.Message):
    __slots__ = ["next_page_token", "purchased", "seats"]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    PURCHASED_FIELD_NUMBER: _ClassVar[int]
    SEATS_FIELD_NUMBER: _ClassVar[int]
    next_page_token: str
    purchased: int
    seats: _containers.RepeatedCompositeFieldContainer[Seat]
    def __init__(self, seats: _Optional[_Iterable[_Union[Seat, _Mapping[str, _Any]]]] = ..., purchased: _Optional[int] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class LookUpOrderRequest(_message.Message):
    __slots__ = ["actor", "app", "note", "order_id", "page_size", "page_token"]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    APP_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    ORDER_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    actor: str
    app: str
    note: str
    order_id: str
    page_size: int
    page_token: str
    def __init__(self, app: _Optional[str] = ..., order_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., note: _Optional[str] = ..., actor: _Optional[str] = ...) -> None: ...

class LookUpOrderResponse(_message.Message):
    __slots__ = ["customer_ids", "next_page_token", "position", "transactions", "valid"]
    CUSTOMER_IDS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    TRANSACTIONS_FIELD_NUMBER: _ClassVar[int]
    VALID_FIELD_NUMBER: _ClassVar[int]
    customer_ids: _containers.RepeatedScalarFieldContainer[str]
    next_page_token: str
    position: str
    transactions: _containers.RepeatedCompositeFieldContainer[_transaction_pb2.Transaction]
    valid: bool
    def __init__(self, valid: bool = ..., transactions: _Optional[_Iterable[_Union[_transaction_pb2.Transaction, _Mapping[str, _Any]]]] = ..., customer_ids: _Optional[_Iterable[str]] = ..., next_page_token: _Optional[str] = ..., position: _Optional[str] = ...) -> None: ...

class MassExtendRenewalDateRequest(_message.Message):
    __slots__ = ["actor", "app", "environment", "extend_by_days", "idempotency_key", "note", "product_id", "reason", "request_identifier", "storefront_country_codes"]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    APP_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    EXTEND_BY_DAYS_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    PRODUCT_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    REQUEST_IDENTIFIER_FIELD_NUMBER: _ClassVar[int]
    STOREFRONT_COUNTRY_CODES_FIELD_NUMBER: _ClassVar[int]
    actor: str
    app: str
    environment: _environment_pb2.Environment
    extend_by_days: int
    idempotency_key: str
    note: str
    product_id: str
    reason: ExtendReason
    request_identifier: str
    storefront_country_codes: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., product_id: _Optional[str] = ..., extend_by_days: _Optional[int] = ..., reason: _Optional[_Union[ExtendReason, str]] = ..., request_identifier: _Optional[str] = ..., storefront_country_codes: _Optional[_Iterable[str]] = ..., actor: _Optional[str] = ..., note: _Optional[str] = ..., idempotency_key: _Optional[str] = ...) -> None: ...

class MassExtendRenewalDateResponse(_message.Message):
    __slots__ = ["position", "repeated", "request_identifier"]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    REPEATED_FIELD_NUMBER: _ClassVar[int]
    REQUEST_IDENTIFIER_FIELD_NUMBER: _ClassVar[int]
    position: str
    repeated: bool
    request_identifier: str
    def __init__(self, request_identifier: _Optional[str] = ..., repeated: bool = ..., position: _Optional[str] = ...) -> None: ...

class RefreshPurchaseRequest(_message.Message):
    __slots__ = ["actor", "app", "environment", "note", "transaction_id"]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    APP_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    actor: str
    app: str
    environment: _environment_pb2.Environment
    note: str
    transaction_id: str
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., transaction_id: _Optional[str] = ..., note: _Optional[str] = ..., actor: _Optional[str] = ...) -> None: ...

class RefreshPurchaseResponse(_message.Message):
    __slots__ = ["changed", "position", "transactions"]
    CHANGED_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    TRANSACTIONS_FIELD_NUMBER: _ClassVar[int]
    changed: int
    position: str
    transactions: _containers.RepeatedCompositeFieldContainer[_transaction_pb2.Transaction]
    def __init__(self, transactions: _Optional[_Iterable[_Union[_transaction_pb2.Transaction, _Mapping[str, _Any]]]] = ..., changed: _Optional[int] = ..., position: _Optional[str] = ...) -> None: ...

class Seat(_message.Message):
    __slots__ = ["claimed_at", "customer_id", "seat_id"]
    CLAIMED_AT_FIELD_NUMBER: _ClassVar[int]
    CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    SEAT_ID_FIELD_NUMBER: _ClassVar[int]
    claimed_at: _timestamp_pb2.Timestamp
    customer_id: str
    seat_id: str
    def __init__(self, seat_id: _Optional[str] = ..., customer_id: _Optional[str] = ..., claimed_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ...) -> None: ...

class SendAdvancedCommerceRequestRequest(_message.Message):
    __slots__ = ["action", "actor", "app", "environment", "idempotency_key", "note", "request_json", "request_reference_id", "transaction_id"]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    APP_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    REQUEST_JSON_FIELD_NUMBER: _ClassVar[int]
    REQUEST_REFERENCE_ID_FIELD_NUMBER: _ClassVar[int]
    TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    action: AdvancedCommerceAction
    actor: str
    app: str
    environment: _environment_pb2.Environment
    idempotency_key: str
    note: str
    request_json: str
    request_reference_id: str
    transaction_id: str
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., transaction_id: _Optional[str] = ..., action: _Optional[_Union[AdvancedCommerceAction, str]] = ..., request_json: _Optional[str] = ..., request_reference_id: _Optional[str] = ..., actor: _Optional[str] = ..., note: _Optional[str] = ..., idempotency_key: _Optional[str] = ...) -> None: ...

class SendAdvancedCommerceRequestResponse(_message.Message):
    __slots__ = ["position", "repeated", "transaction"]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    REPEATED_FIELD_NUMBER: _ClassVar[int]
    TRANSACTION_FIELD_NUMBER: _ClassVar[int]
    position: str
    repeated: bool
    transaction: _transaction_pb2.Transaction
    def __init__(self, transaction: _Optional[_Union[_transaction_pb2.Transaction, _Mapping[str, _Any]]] = ..., repeated: bool = ..., position: _Optional[str] = ...) -> None: ...

class SendConsumptionInformationRequest(_message.Message):
    __slots__ = ["actor", "app", "consumption_percentage", "customer_consented", "delivery_status", "dry_run", "environment", "idempotency_key", "note", "refund_preference", "sample_content_provided", "transaction_id"]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    APP_FIELD_NUMBER: _ClassVar[int]
    CONSUMPTION_PERCENTAGE_FIELD_NUMBER: _ClassVar[int]
    CUSTOMER_CONSENTED_FIELD_NUMBER: _ClassVar[int]
    DELIVERY_STATUS_FIELD_NUMBER: _ClassVar[int]
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    REFUND_PREFERENCE_FIELD_NUMBER: _ClassVar[int]
    SAMPLE_CONTENT_PROVIDED_FIELD_NUMBER: _ClassVar[int]
    TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    actor: str
    app: str
    consumption_percentage: int
    customer_consented: bool
    delivery_status: DeliveryStatus
    dry_run: bool
    environment: _environment_pb2.Environment
    idempotency_key: str
    note: str
    refund_preference: RefundPreference
    sample_content_provided: bool
    transaction_id: str
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., transaction_id: _Optional[str] = ..., customer_consented: bool = ..., delivery_status: _Optional[_Union[DeliveryStatus, str]] = ..., refund_preference: _Optional[_Union[RefundPreference, str]] = ..., consumption_percentage: _Optional[int] = ..., sample_content_provided: bool = ..., actor: _Optional[str] = ..., dry_run: bool = ..., note: _Optional[str] = ..., idempotency_key: _Optional[str] = ...) -> None: ...

class SendConsumptionInformationResponse(_message.Message):
    __slots__ = ["payload_json", "position", "repeated", "sent_at"]
    PAYLOAD_JSON_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    REPEATED_FIELD_NUMBER: _ClassVar[int]
    SENT_AT_FIELD_NUMBER: _ClassVar[int]
    payload_json: str
    position: str
    repeated: bool
    sent_at: _timestamp_pb2.Timestamp
    def __init__(self, sent_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., payload_json: _Optional[str] = ..., repeated: bool = ..., position: _Optional[str] = ...) -> None: ...

class SendConsumptionInformationV1Request(_message.Message):
    __slots__ = ["account_tenure", "actor", "app", "app_account_token", "consumption_status", "customer_consented", "delivery_status", "dry_run", "environment", "idempotency_key", "lifetime_dollars_purchased", "lifetime_dollars_refunded", "note", "platform", "play_time", "refund_preference", "sample_content_provided", "transaction_id", "user_status"]
    ACCOUNT_TENURE_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    APP_ACCOUNT_TOKEN_FIELD_NUMBER: _ClassVar[int]
    APP_FIELD_NUMBER: _ClassVar[int]
    CONSUMPTION_STATUS_FIELD_NUMBER: _ClassVar[int]
    CUSTOMER_CONSENTED_FIELD_NUMBER: _ClassVar[int]
    DELIVERY_STATUS_FIELD_NUMBER: _ClassVar[int]
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    LIFETIME_DOLLARS_PURCHASED_FIELD_NUMBER: _ClassVar[int]
    LIFETIME_DOLLARS_REFUNDED_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    PLATFORM_FIELD_NUMBER: _ClassVar[int]
    PLAY_TIME_FIELD_NUMBER: _ClassVar[int]
    REFUND_PREFERENCE_FIELD_NUMBER: _ClassVar[int]
    SAMPLE_CONTENT_PROVIDED_FIELD_NUMBER: _ClassVar[int]
    TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    USER_STATUS_FIELD_NUMBER: _ClassVar[int]
    account_tenure: int
    actor: str
    app: str
    app_account_token: str
    consumption_status: int
    customer_consented: bool
    delivery_status: int
    dry_run: bool
    environment: _environment_pb2.Environment
    idempotency_key: str
    lifetime_dollars_purchased: int
    lifetime_dollars_refunded: int
    note: str
    platform: int
    play_time: int
    refund_preference: int
    sample_content_provided: bool
    transaction_id: str
    user_status: int
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., transaction_id: _Optional[str] = ..., customer_consented: bool = ..., sample_content_provided: bool = ..., app_account_token: _Optional[str] = ..., consumption_status: _Optional[int] = ..., platform: _Optional[int] = ..., delivery_status: _Optional[int] = ..., account_tenure: _Optional[int] = ..., play_time: _Optional[int] = ..., lifetime_dollars_purchased: _Optional[int] = ..., lifetime_dollars_refunded: _Optional[int] = ..., user_status: _Optional[int] = ..., refund_preference: _Optional[int] = ..., actor: _Optional[str] = ..., dry_run: bool = ..., note: _Optional[str] = ..., idempotency_key: _Optional[str] = ...) -> None: ...

class SendConsumptionInformationV1Response(_message.Message):
    __slots__ = ["payload_json", "position", "repeated", "sent_at"]
    PAYLOAD_JSON_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    REPEATED_FIELD_NUMBER: _ClassVar[int]
    SENT_AT_FIELD_NUMBER: _ClassVar[int]
    payload_json: str
    position: str
    repeated: bool
    sent_at: _timestamp_pb2.Timestamp
    def __init__(self, sent_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., payload_json: _Optional[str] = ..., repeated: bool = ..., position: _Optional[str] = ...) -> None: ...

class SendExternalPurchaseReportRequest(_message.Message):
    __slots__ = ["actor", "app", "environment", "idempotency_key", "note", "report_json", "request_identifier"]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    APP_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    REPORT_JSON_FIELD_NUMBER: _ClassVar[int]
    REQUEST_IDENTIFIER_FIELD_NUMBER: _ClassVar[int]
    actor: str
    app: str
    environment: _environment_pb2.Environment
    idempotency_key: str
    note: str
    report_json: str
    request_identifier: str
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., report_json: _Optional[str] = ..., request_identifier: _Optional[str] = ..., actor: _Optional[str] = ..., note: _Optional[str] = ..., idempotency_key: _Optional[str] = ...) -> None: ...

class SendExternalPurchaseReportResponse(_message.Message):
    __slots__ = ["position", "repeated", "request_identifier"]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    REPEATED_FIELD_NUMBER: _ClassVar[int]
    REQUEST_IDENTIFIER_FIELD_NUMBER: _ClassVar[int]
    position: str
    repeated: bool
    request_identifier: str
    def __init__(self, request_identifier: _Optional[str] = ..., repeated: bool = ..., position: _Optional[str] = ...) -> None: ...

class SetAppAccountTokenRequest(_message.Message):
    __slots__ = ["actor", "app", "app_account_token", "environment", "idempotency_key", "note", "original_transaction_id"]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    APP_ACCOUNT_TOKEN_FIELD_NUMBER: _ClassVar[int]
    APP_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    ORIGINAL_TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    actor: str
    app: str
    app_account_token: str
    environment: _environment_pb2.Environment
    idempotency_key: str
    note: str
    original_transaction_id: str
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., original_transaction_id: _Optional[str] = ..., app_account_token: _Optional[str] = ..., actor: _Optional[str] = ..., note: _Optional[str] = ..., idempotency_key: _Optional[str] = ...) -> None: ...

class SetAppAccountTokenResponse(_message.Message):
    __slots__ = ["position", "repeated", "set_at"]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    REPEATED_FIELD_NUMBER: _ClassVar[int]
    SET_AT_FIELD_NUMBER: _ClassVar[int]
    position: str
    repeated: bool
    set_at: _timestamp_pb2.Timestamp
    def __init__(self, set_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., repeated: bool = ..., position: _Optional[str] = ...) -> None: ...

class SetConsumptionConsentRequest(_message.Message):
    __slots__ = ["actor", "app", "consented", "customer_id", "dry_run", "environment", "idempotency_key", "note"]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    APP_FIELD_NUMBER: _ClassVar[int]
    CONSENTED_FIELD_NUMBER: _ClassVar[int]
    CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    actor: str
    app: str
    consented: bool
    customer_id: str
    dry_run: bool
    environment: _environment_pb2.Environment
    idempotency_key: str
    note: str
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., customer_id: _Optional[str] = ..., consented: bool = ..., actor: _Optional[str] = ..., note: _Optional[str] = ..., dry_run: bool = ..., idempotency_key: _Optional[str] = ...) -> None: ...

class SetConsumptionConsentResponse(_message.Message):
    __slots__ = ["consent", "position", "repeated"]
    CONSENT_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    REPEATED_FIELD_NUMBER: _ClassVar[int]
    consent: _entitlement_pb2.ConsumptionConsent
    position: str
    repeated: bool
    def __init__(self, consent: _Optional[_Union[_entitlement_pb2.ConsumptionConsent, _Mapping[str, _Any]]] = ..., repeated: bool = ..., position: _Optional[str] = ...) -> None: ...

class SettleConsentWithdrawalRequest(_message.Message):
    __slots__ = ["actor", "app", "app_transaction_id", "environment", "idempotency_key", "note"]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    APP_FIELD_NUMBER: _ClassVar[int]
    APP_TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    actor: str
    app: str
    app_transaction_id: str
    environment: _environment_pb2.Environment
    idempotency_key: str
    note: str
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., app_transaction_id: _Optional[str] = ..., actor: _Optional[str] = ..., note: _Optional[str] = ..., idempotency_key: _Optional[str] = ...) -> None: ...

class SettleConsentWithdrawalResponse(_message.Message):
    __slots__ = ["already_settled", "position", "repeated", "settlement_evidence_id"]
    ALREADY_SETTLED_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    REPEATED_FIELD_NUMBER: _ClassVar[int]
    SETTLEMENT_EVIDENCE_ID_FIELD_NUMBER: _ClassVar[int]
    already_settled: bool
    position: str
    repeated: bool
    settlement_evidence_id: int
    def __init__(self, already_settled: bool = ..., settlement_evidence_id: _Optional[int] = ..., repeated: bool = ..., position: _Optional[str] = ...) -> None: ...

class UnclaimSeatRequest(_message.Message):
    __slots__ = ["actor", "app", "environment", "idempotency_key", "note", "original_transaction_id", "seat_id"]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    APP_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    ORIGINAL_TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    SEAT_ID_FIELD_NUMBER: _ClassVar[int]
    actor: str
    app: str
    environment: _environment_pb2.Environment
    idempotency_key: str
    note: str
    original_transaction_id: str
    seat_id: str
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., original_transaction_id: _Optional[str] = ..., seat_id: _Optional[str] = ..., actor: _Optional[str] = ..., note: _Optional[str] = ..., idempotency_key: _Optional[str] = ...) -> None: ...

class UnclaimSeatResponse(_message.Message):
    __slots__ = ["position", "repeated", "seat"]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    REPEATED_FIELD_NUMBER: _ClassVar[int]
    SEAT_FIELD_NUMBER: _ClassVar[int]
    position: str
    repeated: bool
    seat: Seat
    def __init__(self, seat: _Optional[_Union[Seat, _Mapping[str, _Any]]] = ..., repeated: bool = ..., position: _Optional[str] = ...) -> None: ...

class ExtendReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []

class RefundPreference(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []

class DeliveryStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []

class ConsumptionRequestState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []

class AdvancedCommerceAction(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []

class ExternalTokenState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []

class ConsentWithdrawalState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []
