from entitled.v1 import access_pb2 as _access_pb2
from entitled.v1 import environment_pb2 as _environment_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import Any as _Any, ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor
REPORT_DIMENSION_DURATION: ReportDimension
REPORT_DIMENSION_GROUP: ReportDimension
REPORT_DIMENSION_OFFER_KIND: ReportDimension
REPORT_DIMENSION_PRODUCT: ReportDimension
REPORT_DIMENSION_REASON: ReportDimension
REPORT_DIMENSION_STOREFRONT: ReportDimension
REPORT_DIMENSION_UNSPECIFIED: ReportDimension
REPORT_FORMAT_CSV: ReportFormat
REPORT_FORMAT_NDJSON: ReportFormat
REPORT_FORMAT_UNSPECIFIED: ReportFormat
REPORT_GRANULARITY_DAY: ReportGranularity
REPORT_GRANULARITY_MONTH: ReportGranularity
REPORT_GRANULARITY_QUARTER: ReportGranularity
REPORT_GRANULARITY_UNSPECIFIED: ReportGranularity
REPORT_GRANULARITY_WEEK: ReportGranularity
REPORT_GRANULARITY_YEAR: ReportGranularity
REPORT_PROVENANCE_ESTIMATED: ReportProvenance
REPORT_PROVENANCE_STATED: ReportProvenance
REPORT_PROVENANCE_UNSPECIFIED: ReportProvenance
REPORT_ROLE_DENOMINATOR: ReportRole
REPORT_ROLE_NUMERATOR: ReportRole
REPORT_ROLE_UNSPECIFIED: ReportRole
REPORT_ROLE_VALUE: ReportRole
REPORT_UNIT_COUNT: ReportUnit
REPORT_UNIT_MONEY: ReportUnit
REPORT_UNIT_MONEY_PER_YEAR: ReportUnit
REPORT_UNIT_UNSPECIFIED: ReportUnit

class ExportReportRequest(_message.Message):
    __slots__ = ["app", "environment", "format", "query"]
    APP_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    app: str
    environment: _environment_pb2.Environment
    format: ReportFormat
    query: ReportQuery
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., query: _Optional[_Union[ReportQuery, _Mapping[str, _Any]]] = ..., format: _Optional[_Union[ReportFormat, str]] = ...) -> None: ...

class ExportReportResponse(_message.Message):
    __slots__ = ["chunk"]
    CHUNK_FIELD_NUMBER: _ClassVar[int]
    chunk: bytes
    def __init__(self, chunk: _Optional[bytes] = ...) -> None: ...

class GetReconciliationRequest(_message.Message):
    __slots__ = ["all_runs", "app", "end_time", "environment", "start_time"]
    ALL_RUNS_FIELD_NUMBER: _ClassVar[int]
    APP_FIELD_NUMBER: _ClassVar[int]
    END_TIME_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    all_runs: bool
    app: str
    end_time: _timestamp_pb2.Timestamp
    environment: _environment_pb2.Environment
    start_time: _timestamp_pb2.Timestamp
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., start_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., end_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., all_runs: bool = ...) -> None: ...

class GetReconciliationResponse(_message.Message):
    __slots__ = ["days", "environment"]
    DAYS_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    days: _containers.RepeatedCompositeFieldContainer[ReconciledDay]
    environment: _environment_pb2.Environment
    def __init__(self, environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., days: _Optional[_Iterable[_Union[ReconciledDay, _Mapping[str, _Any]]]] = ...) -> None: ...

class ListPostingsRequest(_message.Message):
    __slots__ = ["after_number", "app", "end_time", "environment", "opening", "start_time"]
    AFTER_NUMBER_FIELD_NUMBER: _ClassVar[int]
    APP_FIELD_NUMBER: _ClassVar[int]
    END_TIME_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    OPENING_FIELD_NUMBER: _ClassVar[int]
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    after_number: int
    app: str
    end_time: _timestamp_pb2.Timestamp
    environment: _environment_pb2.Environment
    opening: bool
    start_time: _timestamp_pb2.Timestamp
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., after_number: _Optional[int] = ..., start_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., end_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., opening: bool = ...) -> None: ...

class ListPostingsResponse(_message.Message):
    __slots__ = ["postings"]
    POSTINGS_FIELD_NUMBER: _ClassVar[int]
    postings: _containers.RepeatedCompositeFieldContainer[ReportPosting]
    def __init__(self, postings: _Optional[_Iterable[_Union[ReportPosting, _Mapping[str, _Any]]]] = ...) -> None: ...

class ListReportPurchasesRequest(_message.Message):
    __slots__ = ["age", "app", "bucket", "column", "currency", "environment", "groups", "page_size", "page_token", "query"]
    AGE_FIELD_NUMBER: _ClassVar[int]
    APP_FIELD_NUMBER: _ClassVar[int]
    BUCKET_FIELD_NUMBER: _ClassVar[int]
    COLUMN_FIELD_NUMBER: _ClassVar[int]
    CURRENCY_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    GROUPS_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    age: int
    app: str
    bucket: _timestamp_pb2.Timestamp
    column: str
    currency: str
    environment: _environment_pb2.Environment
    groups: _containers.RepeatedScalarFieldContainer[str]
    page_size: int
    page_token: str
    query: ReportQuery
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., query: _Optional[_Union[ReportQuery, _Mapping[str, _Any]]] = ..., column: _Optional[str] = ..., bucket: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., groups: _Optional[_Iterable[str]] = ..., currency: _Optional[str] = ..., age: _Optional[int] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListReportPurchasesResponse(_message.Message):
    __slots__ = ["next_page_token", "purchases"]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    PURCHASES_FIELD_NUMBER: _ClassVar[int]
    next_page_token: str
    purchases: _containers.RepeatedCompositeFieldContainer[ReportPurchase]
    def __init__(self, purchases: _Optional[_Iterable[_Union[ReportPurchase, _Mapping[str, _Any]]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ListReportsRequest(_message.Message):
    __slots__ = ["app"]
    APP_FIELD_NUMBER: _ClassVar[int]
    app: str
    def __init__(self, app: _Optional[str] = ...) -> None: ...

class ListReportsResponse(_message.Message):
    __slots__ = ["reports"]
    REPORTS_FIELD_NUMBER: _ClassVar[int]
    reports: _containers.RepeatedCompositeFieldContainer[Report]
    def __init__(self, reports: _Optional[_Iterable[_Union[Report, _Mapping[str, _Any]]]] = ...) -> None: ...

class QueryReportRequest(_message.Message):
    __slots__ = ["app", "environment", "query"]
    APP_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    app: str
    environment: _environment_pb2.Environment
    query: ReportQuery
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., query: _Optional[_Union[ReportQuery, _Mapping[str, _Any]]] = ...) -> None: ...

class QueryReportResponse(_message.Message):
    __slots__ = ["closed_until", "columns", "edition", "environment", "known_at", "notes", "result_hash", "revisions", "rows"]
    CLOSED_UNTIL_FIELD_NUMBER: _ClassVar[int]
    COLUMNS_FIELD_NUMBER: _ClassVar[int]
    EDITION_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    KNOWN_AT_FIELD_NUMBER: _ClassVar[int]
    NOTES_FIELD_NUMBER: _ClassVar[int]
    RESULT_HASH_FIELD_NUMBER: _ClassVar[int]
    REVISIONS_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    closed_until: _timestamp_pb2.Timestamp
    columns: _containers.RepeatedCompositeFieldContainer[ReportColumn]
    edition: int
    environment: _environment_pb2.Environment
    known_at: _timestamp_pb2.Timestamp
    notes: _containers.RepeatedScalarFieldContainer[str]
    result_hash: str
    revisions: _containers.RepeatedCompositeFieldContainer[ReportRevision]
    rows: _containers.RepeatedCompositeFieldContainer[ReportRow]
    def __init__(self, environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., columns: _Optional[_Iterable[_Union[ReportColumn, _Mapping[str, _Any]]]] = ..., rows: _Optional[_Iterable[_Union[ReportRow, _Mapping[str, _Any]]]] = ..., closed_until: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., known_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., revisions: _Optional[_Iterable[_Union[ReportRevision, _Mapping[str, _Any]]]] = ..., notes: _Optional[_Iterable[str]] = ..., edition: _Optional[int] = ..., result_hash: _Optional[str] = ...) -> None: ...

class ReconciledDay(_message.Message):
    __slots__ = ["day", "explained", "files", "matched", "recorded_at", "report", "run", "unexplained", "unknown_rows"]
    DAY_FIELD_NUMBER: _ClassVar[int]
    EXPLAINED_FIELD_NUMBER: _ClassVar[int]
    FILES_FIELD_NUMBER: _ClassVar[int]
    MATCHED_FIELD_NUMBER: _ClassVar[int]
    RECORDED_AT_FIELD_NUMBER: _ClassVar[int]
    REPORT_FIELD_NUMBER: _ClassVar[int]
    RUN_FIELD_NUMBER: _ClassVar[int]
    UNEXPLAINED_FIELD_NUMBER: _ClassVar[int]
    UNKNOWN_ROWS_FIELD_NUMBER: _ClassVar[int]
    day: _timestamp_pb2.Timestamp
    explained: int
    files: _containers.RepeatedScalarFieldContainer[str]
    matched: int
    recorded_at: _timestamp_pb2.Timestamp
    report: str
    run: int
    unexplained: int
    unknown_rows: int
    def __init__(self, day: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., report: _Optional[str] = ..., matched: _Optional[int] = ..., explained: _Optional[int] = ..., unexplained: _Optional[int] = ..., unknown_rows: _Optional[int] = ..., files: _Optional[_Iterable[str]] = ..., recorded_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., run: _Optional[int] = ...) -> None: ...

class RecordReconciliationRequest(_message.Message):
    __slots__ = ["app", "days", "environment"]
    APP_FIELD_NUMBER: _ClassVar[int]
    DAYS_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    app: str
    days: _containers.RepeatedCompositeFieldContainer[ReconciledDay]
    environment: _environment_pb2.Environment
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., days: _Optional[_Iterable[_Union[ReconciledDay, _Mapping[str, _Any]]]] = ...) -> None: ...

class RecordReconciliationResponse(_message.Message):
    __slots__ = ["position"]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    position: str
    def __init__(self, position: _Optional[str] = ...) -> None: ...

class Report(_message.Message):
    __slots__ = ["by_currency", "columns", "dimensions", "has_ages", "name", "title"]
    BY_CURRENCY_FIELD_NUMBER: _ClassVar[int]
    COLUMNS_FIELD_NUMBER: _ClassVar[int]
    DIMENSIONS_FIELD_NUMBER: _ClassVar[int]
    HAS_AGES_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    by_currency: bool
    columns: _containers.RepeatedCompositeFieldContainer[ReportColumn]
    dimensions: _containers.RepeatedScalarFieldContainer[ReportDimension]
    has_ages: bool
    name: str
    title: str
    def __init__(self, name: _Optional[str] = ..., title: _Optional[str] = ..., columns: _Optional[_Iterable[_Union[ReportColumn, _Mapping[str, _Any]]]] = ..., by_currency: bool = ..., has_ages: bool = ..., dimensions: _Optional[_Iterable[_Union[ReportDimension, str]]] = ...) -> None: ...

class ReportColumn(_message.Message):
    __slots__ = ["definition", "name", "provenance", "role", "unit"]
    DEFINITION_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    PROVENANCE_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    UNIT_FIELD_NUMBER: _ClassVar[int]
    definition: str
    name: str
    provenance: ReportProvenance
    role: ReportRole
    unit: ReportUnit
    def __init__(self, name: _Optional[str] = ..., unit: _Optional[_Union[ReportUnit, str]] = ..., role: _Optional[_Union[ReportRole, str]] = ..., definition: _Optional[str] = ..., provenance: _Optional[_Union[ReportProvenance, str]] = ...) -> None: ...

class ReportDifference(_message.Message):
    __slots__ = ["currency", "values"]
    CURRENCY_FIELD_NUMBER: _ClassVar[int]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    currency: str
    values: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, currency: _Optional[str] = ..., values: _Optional[_Iterable[int]] = ...) -> None: ...

class ReportPosting(_message.Message):
    __slots__ = ["amount", "cause", "currency", "effective_at", "kind", "known_at", "number", "offer_kind", "original_transaction_id", "proceeds", "product_id", "reason", "stock", "storefront", "subscription_group", "transaction_id", "units"]
    AMOUNT_FIELD_NUMBER: _ClassVar[int]
    CAUSE_FIELD_NUMBER: _ClassVar[int]
    CURRENCY_FIELD_NUMBER: _ClassVar[int]
    EFFECTIVE_AT_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    KNOWN_AT_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    OFFER_KIND_FIELD_NUMBER: _ClassVar[int]
    ORIGINAL_TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    PROCEEDS_FIELD_NUMBER: _ClassVar[int]
    PRODUCT_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    STOCK_FIELD_NUMBER: _ClassVar[int]
    STOREFRONT_FIELD_NUMBER: _ClassVar[int]
    SUBSCRIPTION_GROUP_FIELD_NUMBER: _ClassVar[int]
    TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    UNITS_FIELD_NUMBER: _ClassVar[int]
    amount: int
    cause: str
    currency: str
    effective_at: _timestamp_pb2.Timestamp
    kind: str
    known_at: _timestamp_pb2.Timestamp
    number: int
    offer_kind: str
    original_transaction_id: str
    proceeds: int
    product_id: str
    reason: str
    stock: bool
    storefront: str
    subscription_group: str
    transaction_id: str
    units: int
    def __init__(self, number: _Optional[int] = ..., kind: _Optional[str] = ..., stock: bool = ..., effective_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., known_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., cause: _Optional[str] = ..., original_transaction_id: _Optional[str] = ..., transaction_id: _Optional[str] = ..., product_id: _Optional[str] = ..., subscription_group: _Optional[str] = ..., storefront: _Optional[str] = ..., offer_kind: _Optional[str] = ..., reason: _Optional[str] = ..., units: _Optional[int] = ..., amount: _Optional[int] = ..., proceeds: _Optional[int] = ..., currency: _Optional[str] = ...) -> None: ...

class ReportPurchase(_message.Message):
    __slots__ = ["currency", "customer_id", "effective_at", "original_transaction_id", "product_id", "reason", "storefront", "value"]
    CURRENCY_FIELD_NUMBER: _ClassVar[int]
    CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    EFFECTIVE_AT_FIELD_NUMBER: _ClassVar[int]
    ORIGINAL_TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    PRODUCT_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    STOREFRONT_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    currency: str
    customer_id: str
    effective_at: _timestamp_pb2.Timestamp
    original_transaction_id: str
    product_id: str
    reason: str
    storefront: str
    value: int
    def __init__(self, original_transaction_id: _Optional[str] = ..., customer_id: _Optional[str] = ..., product_id: _Optional[str] = ..., storefront: _Optional[str] = ..., value: _Optional[int] = ..., currency: _Optional[str] = ..., effective_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., reason: _Optional[str] = ...) -> None: ...

class ReportQuery(_message.Message):
    __slots__ = ["as_first_closed", "as_of", "convert_to", "end_time", "granularity", "group_by", "known_at", "max_groups", "proceeds", "product_ids", "rates", "report", "start_time", "storefronts", "subscription_groups"]
    AS_FIRST_CLOSED_FIELD_NUMBER: _ClassVar[int]
    AS_OF_FIELD_NUMBER: _ClassVar[int]
    CONVERT_TO_FIELD_NUMBER: _ClassVar[int]
    END_TIME_FIELD_NUMBER: _ClassVar[int]
    GRANULARITY_FIELD_NUMBER: _ClassVar[int]
    GROUP_BY_FIELD_NUMBER: _ClassVar[int]
    KNOWN_AT_FIELD_NUMBER: _ClassVar[int]
    MAX_GROUPS_FIELD_NUMBER: _ClassVar[int]
    PROCEEDS_FIELD_NUMBER: _ClassVar[int]
    PRODUCT_IDS_FIELD_NUMBER: _ClassVar[int]
    RATES_FIELD_NUMBER: _ClassVar[int]
    REPORT_FIELD_NUMBER: _ClassVar[int]
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    STOREFRONTS_FIELD_NUMBER: _ClassVar[int]
    SUBSCRIPTION_GROUPS_FIELD_NUMBER: _ClassVar[int]
    as_first_closed: bool
    as_of: _timestamp_pb2.Timestamp
    convert_to: str
    end_time: _timestamp_pb2.Timestamp
    granularity: ReportGranularity
    group_by: _containers.RepeatedScalarFieldContainer[ReportDimension]
    known_at: _timestamp_pb2.Timestamp
    max_groups: int
    proceeds: bool
    product_ids: _containers.RepeatedScalarFieldContainer[str]
    rates: _containers.RepeatedCompositeFieldContainer[ReportRate]
    report: str
    start_time: _timestamp_pb2.Timestamp
    storefronts: _containers.RepeatedScalarFieldContainer[str]
    subscription_groups: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, report: _Optional[str] = ..., start_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., end_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., granularity: _Optional[_Union[ReportGranularity, str]] = ..., group_by: _Optional[_Iterable[_Union[ReportDimension, str]]] = ..., product_ids: _Optional[_Iterable[str]] = ..., subscription_groups: _Optional[_Iterable[str]] = ..., storefronts: _Optional[_Iterable[str]] = ..., proceeds: bool = ..., as_first_closed: bool = ..., known_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., convert_to: _Optional[str] = ..., rates: _Optional[_Iterable[_Union[ReportRate, _Mapping[str, _Any]]]] = ..., max_groups: _Optional[int] = ..., as_of: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ...) -> None: ...

class ReportRate(_message.Message):
    __slots__ = ["currency", "millionths", "start_time"]
    CURRENCY_FIELD_NUMBER: _ClassVar[int]
    MILLIONTHS_FIELD_NUMBER: _ClassVar[int]
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    currency: str
    millionths: int
    start_time: _timestamp_pb2.Timestamp
    def __init__(self, currency: _Optional[str] = ..., start_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., millionths: _Optional[int] = ...) -> None: ...

class ReportRevision(_message.Message):
    __slots__ = ["causes", "day", "differences", "known_day", "number"]
    CAUSES_FIELD_NUMBER: _ClassVar[int]
    DAY_FIELD_NUMBER: _ClassVar[int]
    DIFFERENCES_FIELD_NUMBER: _ClassVar[int]
    KNOWN_DAY_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    causes: _containers.RepeatedCompositeFieldContainer[ReportRevisionCause]
    day: _timestamp_pb2.Timestamp
    differences: _containers.RepeatedCompositeFieldContainer[ReportDifference]
    known_day: _timestamp_pb2.Timestamp
    number: int
    def __init__(self, day: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., number: _Optional[int] = ..., known_day: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., causes: _Optional[_Iterable[_Union[ReportRevisionCause, _Mapping[str, _Any]]]] = ..., differences: _Optional[_Iterable[_Union[ReportDifference, _Mapping[str, _Any]]]] = ...) -> None: ...

class ReportRevisionCause(_message.Message):
    __slots__ = ["cause", "postings"]
    CAUSE_FIELD_NUMBER: _ClassVar[int]
    POSTINGS_FIELD_NUMBER: _ClassVar[int]
    cause: str
    postings: int
    def __init__(self, cause: _Optional[str] = ..., postings: _Optional[int] = ...) -> None: ...

class ReportRow(_message.Message):
    __slots__ = ["age", "bucket", "currency", "groups", "incomplete", "values"]
    AGE_FIELD_NUMBER: _ClassVar[int]
    BUCKET_FIELD_NUMBER: _ClassVar[int]
    CURRENCY_FIELD_NUMBER: _ClassVar[int]
    GROUPS_FIELD_NUMBER: _ClassVar[int]
    INCOMPLETE_FIELD_NUMBER: _ClassVar[int]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    age: int
    bucket: _timestamp_pb2.Timestamp
    currency: str
    groups: _containers.RepeatedScalarFieldContainer[str]
    incomplete: bool
    values: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, bucket: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., groups: _Optional[_Iterable[str]] = ..., currency: _Optional[str] = ..., age: _Optional[int] = ..., values: _Optional[_Iterable[int]] = ..., incomplete: bool = ...) -> None: ...

class ReportGranularity(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []

class ReportDimension(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []

class ReportUnit(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []

class ReportRole(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []

class ReportProvenance(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []

class ReportFormat(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []
