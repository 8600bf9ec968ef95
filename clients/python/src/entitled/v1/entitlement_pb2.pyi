from entitled.v1 import product_pb2 as _product_pb2
from entitled.v1 import transaction_pb2 as _transaction_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import Any as _Any, ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

ACCESS_LEVEL_FULL: AccessLevel
ACCESS_LEVEL_LIMITED: AccessLevel
ACCESS_LEVEL_NONE: AccessLevel
ACCESS_LEVEL_UNSPECIFIED: AccessLevel
ADVICE_KIND_PRICE_CONSENT: AdviceKind
ADVICE_KIND_RESUBSCRIBE: AdviceKind
ADVICE_KIND_RETENTION_OFFER: AdviceKind
ADVICE_KIND_UNSPECIFIED: AdviceKind
ADVICE_KIND_UPDATE_BILLING: AdviceKind
ADVICE_KIND_WIN_BACK_OFFER: AdviceKind
DESCRIPTOR: _descriptor.FileDescriptor
ENTITLEMENT_STATE_ACTIVE_AUTO_RENEW_OFF: EntitlementState
ENTITLEMENT_STATE_ACTIVE_AUTO_RENEW_ON: EntitlementState
ENTITLEMENT_STATE_BILLING_RETRY: EntitlementState
ENTITLEMENT_STATE_CANCELLED: EntitlementState
ENTITLEMENT_STATE_EXPIRED_BILLING: EntitlementState
ENTITLEMENT_STATE_EXPIRED_PRICE_INCREASE: EntitlementState
ENTITLEMENT_STATE_FAMILY_SHARING_ENDED: EntitlementState
ENTITLEMENT_STATE_GRACE_PERIOD: EntitlementState
ENTITLEMENT_STATE_LIFETIME: EntitlementState
ENTITLEMENT_STATE_MISSING: EntitlementState
ENTITLEMENT_STATE_NON_RENEWING: EntitlementState
ENTITLEMENT_STATE_NON_RENEWING_EXPIRED: EntitlementState
ENTITLEMENT_STATE_OFF_PLATFORM: EntitlementState
ENTITLEMENT_STATE_PRODUCT_UNAVAILABLE: EntitlementState
ENTITLEMENT_STATE_REFUNDED_APP_ISSUE: EntitlementState
ENTITLEMENT_STATE_REFUNDED_OTHER: EntitlementState
ENTITLEMENT_STATE_UNSPECIFIED: EntitlementState
ENTITLEMENT_STATE_UPGRADED: EntitlementState

class Advice(_message.Message):
    __slots__ = ["days_left", "deadline", "kind", "message", "offer_ids", "product_ids", "url"]
    DAYS_LEFT_FIELD_NUMBER: _ClassVar[int]
    DEADLINE_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    OFFER_IDS_FIELD_NUMBER: _ClassVar[int]
    PRODUCT_IDS_FIELD_NUMBER: _ClassVar[int]
    URL_FIELD_NUMBER: _ClassVar[int]
    days_left: int
    deadline: _timestamp_pb2.Timestamp
    kind: AdviceKind
    message: str
    offer_ids: _containers.RepeatedScalarFieldContainer[str]
    product_ids: _containers.RepeatedScalarFieldContainer[str]
    url: str
    def __init__(self, kind: _Optional[_Union[AdviceKind, str]] = ..., message: _Optional[str] = ..., url: _Optional[str] = ..., deadline: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., days_left: _Optional[int] = ..., offer_ids: _Optional[_Iterable[str]] = ..., product_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class AppStoreCodes(_message.Message):
    __slots__ = ["billing_plan_type_raw", "in_app_ownership_type_raw", "product_state", "state_code", "status"]
    BILLING_PLAN_TYPE_RAW_FIELD_NUMBER: _ClassVar[int]
    IN_APP_OWNERSHIP_TYPE_RAW_FIELD_NUMBER: _ClassVar[int]
    PRODUCT_STATE_FIELD_NUMBER: _ClassVar[int]
    STATE_CODE_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    billing_plan_type_raw: str
    in_app_ownership_type_raw: str
    product_state: _product_pb2.ProductState
    state_code: str
    status: int
    def __init__(self, state_code: _Optional[str] = ..., product_state: _Optional[_Union[_product_pb2.ProductState, str]] = ..., status: _Optional[int] = ..., in_app_ownership_type_raw: _Optional[str] = ..., billing_plan_type_raw: _Optional[str] = ...) -> None: ...

class ConsumptionConsent(_message.Message):
    __slots__ = ["consented", "evidence_id", "since"]
    CONSENTED_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_ID_FIELD_NUMBER: _ClassVar[int]
    SINCE_FIELD_NUMBER: _ClassVar[int]
    consented: bool
    evidence_id: int
    since: _timestamp_pb2.Timestamp
    def __init__(self, consented: bool = ..., since: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., evidence_id: _Optional[int] = ...) -> None: ...

class Entitlement(_message.Message):
    __slots__ = ["access_level", "advice", "app_store_codes", "auto_renew_product_id", "billing_plan_type", "check_again_at", "commitment_info", "entitled", "evidence_id", "explanation", "external_id", "grant_id", "in_app_ownership_type", "manage_url", "name", "original_transaction_id", "paid_until", "product_id", "product_type", "reason", "renewal_price", "since", "source", "state", "transaction_id", "until", "will_renew"]
    ACCESS_LEVEL_FIELD_NUMBER: _ClassVar[int]
    ADVICE_FIELD_NUMBER: _ClassVar[int]
    APP_STORE_CODES_FIELD_NUMBER: _ClassVar[int]
    AUTO_RENEW_PRODUCT_ID_FIELD_NUMBER: _ClassVar[int]
    BILLING_PLAN_TYPE_FIELD_NUMBER: _ClassVar[int]
    CHECK_AGAIN_AT_FIELD_NUMBER: _ClassVar[int]
    COMMITMENT_INFO_FIELD_NUMBER: _ClassVar[int]
    ENTITLED_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_ID_FIELD_NUMBER: _ClassVar[int]
    EXPLANATION_FIELD_NUMBER: _ClassVar[int]
    EXTERNAL_ID_FIELD_NUMBER: _ClassVar[int]
    GRANT_ID_FIELD_NUMBER: _ClassVar[int]
    IN_APP_OWNERSHIP_TYPE_FIELD_NUMBER: _ClassVar[int]
    MANAGE_URL_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    ORIGINAL_TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    PAID_UNTIL_FIELD_NUMBER: _ClassVar[int]
    PRODUCT_ID_FIELD_NUMBER: _ClassVar[int]
    PRODUCT_TYPE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    RENEWAL_PRICE_FIELD_NUMBER: _ClassVar[int]
    SINCE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    UNTIL_FIELD_NUMBER: _ClassVar[int]
    WILL_RENEW_FIELD_NUMBER: _ClassVar[int]
    access_level: AccessLevel
    advice: _containers.RepeatedCompositeFieldContainer[Advice]
    app_store_codes: AppStoreCodes
    auto_renew_product_id: str
    billing_plan_type: _product_pb2.BillingPlanType
    check_again_at: _timestamp_pb2.Timestamp
    commitment_info: _transaction_pb2.TransactionCommitmentInfo
    entitled: bool
    evidence_id: int
    explanation: str
    external_id: str
    grant_id: str
    in_app_ownership_type: _product_pb2.InAppOwnershipType
    manage_url: str
    name: str
    original_transaction_id: str
    paid_until: _timestamp_pb2.Timestamp
    product_id: str
    product_type: _product_pb2.ProductType
    reason: str
    renewal_price: _product_pb2.Money
    since: _timestamp_pb2.Timestamp
    source: str
    state: EntitlementState
    transaction_id: str
    until: _timestamp_pb2.Timestamp
    will_renew: bool
    def __init__(self, name: _Optional[str] = ..., entitled: bool = ..., access_level: _Optional[_Union[AccessLevel, str]] = ..., state: _Optional[_Union[EntitlementState, str]] = ..., reason: _Optional[str] = ..., explanation: _Optional[str] = ..., since: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., until: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., paid_until: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., check_again_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., will_renew: bool = ..., product_id: _Optional[str] = ..., product_type: _Optional[_Union[_product_pb2.ProductType, str]] = ..., transaction_id: _Optional[str] = ..., original_transaction_id: _Optional[str] = ..., grant_id: _Optional[str] = ..., evidence_id: _Optional[int] = ..., in_app_ownership_type: _Optional[_Union[_product_pb2.InAppOwnershipType, str]] = ..., billing_plan_type: _Optional[_Union[_product_pb2.BillingPlanType, str]] = ..., commitment_info: _Optional[_Union[_transaction_pb2.TransactionCommitmentInfo, _Mapping[str, _Any]]] = ..., auto_renew_product_id: _Optional[str] = ..., renewal_price: _Optional[_Union[_product_pb2.Money, _Mapping[str, _Any]]] = ..., manage_url: _Optional[str] = ..., advice: _Optional[_Iterable[_Union[Advice, _Mapping[str, _Any]]]] = ..., app_store_codes: _Optional[_Union[AppStoreCodes, _Mapping[str, _Any]]] = ..., source: _Optional[str] = ..., external_id: _Optional[str] = ...) -> None: ...

class AccessLevel(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []

class EntitlementState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []

class AdviceKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []
