from entitled.v1 import access_pb2 as _access_pb2
from entitled.v1 import entitlement_pb2 as _entitlement_pb2
from entitled.v1 import environment_pb2 as _environment_pb2
from entitled.v1 import notification_service_pb2 as _notification_service_pb2
from entitled.v1 import product_pb2 as _product_pb2
from entitled.v1 import transaction_pb2 as _transaction_pb2
from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import field_mask_pb2 as _field_mask_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.rpc import status_pb2 as _status_pb2  # type: ignore[import-untyped]
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import Any as _Any, ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor
EVENT_DELIVERY_STATE_DEAD_LETTER: EventDeliveryState
EVENT_DELIVERY_STATE_DELIVERED: EventDeliveryState
EVENT_DELIVERY_STATE_PENDING: EventDeliveryState
EVENT_DELIVERY_STATE_QUEUED: EventDeliveryState
EVENT_DELIVERY_STATE_UNSPECIFIED: EventDeliveryState
OTHER_CUSTOMER_ROLE_CLAIMANT: OtherCustomerRole
OTHER_CUSTOMER_ROLE_OWNER: OtherCustomerRole
OTHER_CUSTOMER_ROLE_TOKEN_OWNER: OtherCustomerRole
OTHER_CUSTOMER_ROLE_UNSPECIFIED: OtherCustomerRole
OWNERSHIP_POLICY_KEEP: OwnershipPolicy
OWNERSHIP_POLICY_SHARE: OwnershipPolicy
OWNERSHIP_POLICY_TRANSFER: OwnershipPolicy
OWNERSHIP_POLICY_UNSPECIFIED: OwnershipPolicy

class AcknowledgeFulfillmentRequest(_message.Message):
    __slots__ = ["actor", "app", "environment", "fulfillment_id", "transaction_id", "units"]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    APP_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    FULFILLMENT_ID_FIELD_NUMBER: _ClassVar[int]
    TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    UNITS_FIELD_NUMBER: _ClassVar[int]
    actor: str
    app: str
    environment: _environment_pb2.Environment
    fulfillment_id: str
    transaction_id: str
    units: int
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., transaction_id: _Optional[str] = ..., fulfillment_id: _Optional[str] = ..., units: _Optional[int] = ..., actor: _Optional[str] = ...) -> None: ...

class AcknowledgeFulfillmentResponse(_message.Message):
    __slots__ = ["fulfilled_units", "position", "units_due"]
    FULFILLED_UNITS_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    UNITS_DUE_FIELD_NUMBER: _ClassVar[int]
    fulfilled_units: int
    position: str
    units_due: int
    def __init__(self, fulfilled_units: _Optional[int] = ..., units_due: _Optional[int] = ..., position: _Optional[str] = ...) -> None: ...

class AppInstall(_message.Message):
    __slots__ = ["app_transaction_id", "original_application_version", "original_purchase_date", "preorder_date"]
    APP_TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    ORIGINAL_APPLICATION_VERSION_FIELD_NUMBER: _ClassVar[int]
    ORIGINAL_PURCHASE_DATE_FIELD_NUMBER: _ClassVar[int]
    PREORDER_DATE_FIELD_NUMBER: _ClassVar[int]
    app_transaction_id: str
    original_application_version: str
    original_purchase_date: _timestamp_pb2.Timestamp
    preorder_date: _timestamp_pb2.Timestamp
    def __init__(self, app_transaction_id: _Optional[str] = ..., original_application_version: _Optional[str] = ..., original_purchase_date: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., preorder_date: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ...) -> None: ...

class BatchCheckRequest(_message.Message):
    __slots__ = ["checks"]
    CHECKS_FIELD_NUMBER: _ClassVar[int]
    checks: _containers.RepeatedCompositeFieldContainer[CheckRequest]
    def __init__(self, checks: _Optional[_Iterable[_Union[CheckRequest, _Mapping[str, _Any]]]] = ...) -> None: ...

class BatchCheckResponse(_message.Message):
    __slots__ = ["results"]
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    results: _containers.RepeatedCompositeFieldContainer[CheckResult]
    def __init__(self, results: _Optional[_Iterable[_Union[CheckResult, _Mapping[str, _Any]]]] = ...) -> None: ...

class CheckRequest(_message.Message):
    __slots__ = ["app", "customer_id", "entitlement", "environment"]
    APP_FIELD_NUMBER: _ClassVar[int]
    CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    ENTITLEMENT_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    app: str
    customer_id: str
    entitlement: str
    environment: _environment_pb2.Environment
    def __init__(self, app: _Optional[str] = ..., customer_id: _Optional[str] = ..., entitlement: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ...) -> None: ...

class CheckResponse(_message.Message):
    __slots__ = ["entitlement", "environment", "evaluated_at"]
    ENTITLEMENT_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    EVALUATED_AT_FIELD_NUMBER: _ClassVar[int]
    entitlement: _entitlement_pb2.Entitlement
    environment: _environment_pb2.Environment
    evaluated_at: _timestamp_pb2.Timestamp
    def __init__(self, entitlement: _Optional[_Union[_entitlement_pb2.Entitlement, _Mapping[str, _Any]]] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., evaluated_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ...) -> None: ...

class CheckResult(_message.Message):
    __slots__ = ["error", "response"]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_FIELD_NUMBER: _ClassVar[int]
    error: _status_pb2.Status
    response: CheckResponse
    def __init__(self, response: _Optional[_Union[CheckResponse, _Mapping[str, _Any]]] = ..., error: _Optional[_Union[_status_pb2.Status, _Mapping[str, _Any]]] = ...) -> None: ...

class ConsumableBalance(_message.Message):
    __slots__ = ["product_id", "purchased", "refunded"]
    PRODUCT_ID_FIELD_NUMBER: _ClassVar[int]
    PURCHASED_FIELD_NUMBER: _ClassVar[int]
    REFUNDED_FIELD_NUMBER: _ClassVar[int]
    product_id: str
    purchased: int
    refunded: int
    def __init__(self, product_id: _Optional[str] = ..., purchased: _Optional[int] = ..., refunded: _Optional[int] = ...) -> None: ...

class CustomerProduct(_message.Message):
    __slots__ = ["latest_transaction", "product_id", "renewal_info", "state", "type", "type_raw"]
    LATEST_TRANSACTION_FIELD_NUMBER: _ClassVar[int]
    PRODUCT_ID_FIELD_NUMBER: _ClassVar[int]
    RENEWAL_INFO_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    TYPE_RAW_FIELD_NUMBER: _ClassVar[int]
    latest_transaction: _transaction_pb2.Transaction
    product_id: str
    renewal_info: _transaction_pb2.RenewalInfo
    state: _product_pb2.ProductState
    type: _product_pb2.ProductType
    type_raw: str
    def __init__(self, product_id: _Optional[str] = ..., type: _Optional[_Union[_product_pb2.ProductType, str]] = ..., state: _Optional[_Union[_product_pb2.ProductState, str]] = ..., latest_transaction: _Optional[_Union[_transaction_pb2.Transaction, _Mapping[str, _Any]]] = ..., renewal_info: _Optional[_Union[_transaction_pb2.RenewalInfo, _Mapping[str, _Any]]] = ..., type_raw: _Optional[str] = ...) -> None: ...

class CustomerSubscriptionGroup(_message.Message):
    __slots__ = ["auto_renew_product_id", "eligible_for_introductory_offer", "eligible_for_promotional_offers", "eligible_win_back_offer_ids", "paid_days", "product_id", "state", "subscription_group"]
    AUTO_RENEW_PRODUCT_ID_FIELD_NUMBER: _ClassVar[int]
    ELIGIBLE_FOR_INTRODUCTORY_OFFER_FIELD_NUMBER: _ClassVar[int]
    ELIGIBLE_FOR_PROMOTIONAL_OFFERS_FIELD_NUMBER: _ClassVar[int]
    ELIGIBLE_WIN_BACK_OFFER_IDS_FIELD_NUMBER: _ClassVar[int]
    PAID_DAYS_FIELD_NUMBER: _ClassVar[int]
    PRODUCT_ID_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    SUBSCRIPTION_GROUP_FIELD_NUMBER: _ClassVar[int]
    auto_renew_product_id: str
    eligible_for_introductory_offer: bool
    eligible_for_promotional_offers: bool
    eligible_win_back_offer_ids: _containers.RepeatedScalarFieldContainer[str]
    paid_days: int
    product_id: str
    state: _product_pb2.ProductState
    subscription_group: str
    def __init__(self, subscription_group: _Optional[str] = ..., state: _Optional[_Union[_product_pb2.ProductState, str]] = ..., product_id: _Optional[str] = ..., auto_renew_product_id: _Optional[str] = ..., eligible_for_introductory_offer: bool = ..., eligible_for_promotional_offers: bool = ..., eligible_win_back_offer_ids: _Optional[_Iterable[str]] = ..., paid_days: _Optional[int] = ...) -> None: ...

class EntitlementEvent(_message.Message):
    __slots__ = ["actor", "after", "app", "before", "billing_plan_type", "billing_plan_type_raw", "commitment_info", "customer_id", "effective_at", "entitlement", "environment", "erased_customer_id", "evidence_id", "explanation", "original_transaction_id", "other_customer_id", "other_customer_role", "price", "product_id", "product_type", "product_type_raw", "quantity", "recorded_at", "revoked_seat_quantity", "segment", "sequence", "transaction_id", "type"]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    APP_FIELD_NUMBER: _ClassVar[int]
    BEFORE_FIELD_NUMBER: _ClassVar[int]
    BILLING_PLAN_TYPE_FIELD_NUMBER: _ClassVar[int]
    BILLING_PLAN_TYPE_RAW_FIELD_NUMBER: _ClassVar[int]
    COMMITMENT_INFO_FIELD_NUMBER: _ClassVar[int]
    CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    EFFECTIVE_AT_FIELD_NUMBER: _ClassVar[int]
    ENTITLEMENT_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    ERASED_CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_ID_FIELD_NUMBER: _ClassVar[int]
    EXPLANATION_FIELD_NUMBER: _ClassVar[int]
    ORIGINAL_TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    OTHER_CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    OTHER_CUSTOMER_ROLE_FIELD_NUMBER: _ClassVar[int]
    PRICE_FIELD_NUMBER: _ClassVar[int]
    PRODUCT_ID_FIELD_NUMBER: _ClassVar[int]
    PRODUCT_TYPE_FIELD_NUMBER: _ClassVar[int]
    PRODUCT_TYPE_RAW_FIELD_NUMBER: _ClassVar[int]
    QUANTITY_FIELD_NUMBER: _ClassVar[int]
    RECORDED_AT_FIELD_NUMBER: _ClassVar[int]
    REVOKED_SEAT_QUANTITY_FIELD_NUMBER: _ClassVar[int]
    SEGMENT_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    actor: str
    after: _entitlement_pb2.Entitlement
    app: str
    before: _entitlement_pb2.Entitlement
    billing_plan_type: _product_pb2.BillingPlanType
    billing_plan_type_raw: str
    commitment_info: _transaction_pb2.TransactionCommitmentInfo
    customer_id: str
    effective_at: _timestamp_pb2.Timestamp
    entitlement: str
    environment: _environment_pb2.Environment
    erased_customer_id: str
    evidence_id: int
    explanation: str
    original_transaction_id: str
    other_customer_id: str
    other_customer_role: OtherCustomerRole
    price: _product_pb2.Money
    product_id: str
    product_type: _product_pb2.ProductType
    product_type_raw: str
    quantity: int
    recorded_at: _timestamp_pb2.Timestamp
    revoked_seat_quantity: int
    segment: str
    sequence: int
    transaction_id: str
    type: str
    def __init__(self, sequence: _Optional[int] = ..., app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., customer_id: _Optional[str] = ..., entitlement: _Optional[str] = ..., type: _Optional[str] = ..., explanation: _Optional[str] = ..., before: _Optional[_Union[_entitlement_pb2.Entitlement, _Mapping[str, _Any]]] = ..., after: _Optional[_Union[_entitlement_pb2.Entitlement, _Mapping[str, _Any]]] = ..., effective_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., recorded_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., evidence_id: _Optional[int] = ..., transaction_id: _Optional[str] = ..., original_transaction_id: _Optional[str] = ..., actor: _Optional[str] = ..., product_id: _Optional[str] = ..., product_type: _Optional[_Union[_product_pb2.ProductType, str]] = ..., quantity: _Optional[int] = ..., price: _Optional[_Union[_product_pb2.Money, _Mapping[str, _Any]]] = ..., other_customer_role: _Optional[_Union[OtherCustomerRole, str]] = ..., other_customer_id: _Optional[str] = ..., product_type_raw: _Optional[str] = ..., billing_plan_type: _Optional[_Union[_product_pb2.BillingPlanType, str]] = ..., commitment_info: _Optional[_Union[_transaction_pb2.TransactionCommitmentInfo, _Mapping[str, _Any]]] = ..., billing_plan_type_raw: _Optional[str] = ..., erased_customer_id: _Optional[str] = ..., revoked_seat_quantity: _Optional[int] = ..., segment: _Optional[str] = ...) -> None: ...

class EraseCustomerRequest(_message.Message):
    __slots__ = ["actor", "app", "customer_id", "dry_run", "environment", "note"]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    APP_FIELD_NUMBER: _ClassVar[int]
    CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    actor: str
    app: str
    customer_id: str
    dry_run: bool
    environment: _environment_pb2.Environment
    note: str
    def __init__(self, app: _Optional[str] = ..., customer_id: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., actor: _Optional[str] = ..., dry_run: bool = ..., note: _Optional[str] = ...) -> None: ...

class EraseCustomerResponse(_message.Message):
    __slots__ = ["erased_at", "erased_rows", "position", "pseudonym"]
    ERASED_AT_FIELD_NUMBER: _ClassVar[int]
    ERASED_ROWS_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    PSEUDONYM_FIELD_NUMBER: _ClassVar[int]
    erased_at: _timestamp_pb2.Timestamp
    erased_rows: int
    position: str
    pseudonym: str
    def __init__(self, erased_rows: _Optional[int] = ..., erased_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., pseudonym: _Optional[str] = ..., position: _Optional[str] = ...) -> None: ...

class EventDelivery(_message.Message):
    __slots__ = ["attempts", "next_attempt_at", "outcome", "sequence", "state", "webhook"]
    ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_ATTEMPT_AT_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    WEBHOOK_FIELD_NUMBER: _ClassVar[int]
    attempts: int
    next_attempt_at: _timestamp_pb2.Timestamp
    outcome: str
    sequence: int
    state: EventDeliveryState
    webhook: str
    def __init__(self, sequence: _Optional[int] = ..., webhook: _Optional[str] = ..., state: _Optional[_Union[EventDeliveryState, str]] = ..., attempts: _Optional[int] = ..., outcome: _Optional[str] = ..., next_attempt_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ...) -> None: ...

class ExplainRequest(_message.Message):
    __slots__ = ["app", "as_of", "customer_id", "entitlement", "environment", "known_at", "page_size", "page_token"]
    APP_FIELD_NUMBER: _ClassVar[int]
    AS_OF_FIELD_NUMBER: _ClassVar[int]
    CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    ENTITLEMENT_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    KNOWN_AT_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    app: str
    as_of: _timestamp_pb2.Timestamp
    customer_id: str
    entitlement: str
    environment: _environment_pb2.Environment
    known_at: _timestamp_pb2.Timestamp
    page_size: int
    page_token: str
    def __init__(self, app: _Optional[str] = ..., customer_id: _Optional[str] = ..., entitlement: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., as_of: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., known_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ExplainResponse(_message.Message):
    __slots__ = ["contradictions", "entitlement", "environment", "evaluated_at", "later_changes", "next_page_token", "steps"]
    CONTRADICTIONS_FIELD_NUMBER: _ClassVar[int]
    ENTITLEMENT_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    EVALUATED_AT_FIELD_NUMBER: _ClassVar[int]
    LATER_CHANGES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    STEPS_FIELD_NUMBER: _ClassVar[int]
    contradictions: _containers.RepeatedScalarFieldContainer[str]
    entitlement: _entitlement_pb2.Entitlement
    environment: _environment_pb2.Environment
    evaluated_at: _timestamp_pb2.Timestamp
    later_changes: _containers.RepeatedCompositeFieldContainer[LaterChange]
    next_page_token: str
    steps: _containers.RepeatedCompositeFieldContainer[ExplanationStep]
    def __init__(self, entitlement: _Optional[_Union[_entitlement_pb2.Entitlement, _Mapping[str, _Any]]] = ..., steps: _Optional[_Iterable[_Union[ExplanationStep, _Mapping[str, _Any]]]] = ..., contradictions: _Optional[_Iterable[str]] = ..., later_changes: _Optional[_Iterable[_Union[LaterChange, _Mapping[str, _Any]]]] = ..., next_page_token: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., evaluated_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ...) -> None: ...

class ExplanationStep(_message.Message):
    __slots__ = ["decisive", "evidence_id", "explanation", "rule", "since", "transaction_id", "until"]
    DECISIVE_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_ID_FIELD_NUMBER: _ClassVar[int]
    EXPLANATION_FIELD_NUMBER: _ClassVar[int]
    RULE_FIELD_NUMBER: _ClassVar[int]
    SINCE_FIELD_NUMBER: _ClassVar[int]
    TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    UNTIL_FIELD_NUMBER: _ClassVar[int]
    decisive: bool
    evidence_id: int
    explanation: str
    rule: str
    since: _timestamp_pb2.Timestamp
    transaction_id: str
    until: _timestamp_pb2.Timestamp
    def __init__(self, rule: _Optional[str] = ..., explanation: _Optional[str] = ..., evidence_id: _Optional[int] = ..., transaction_id: _Optional[str] = ..., since: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., until: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., decisive: bool = ...) -> None: ...

class GetCustomerRequest(_message.Message):
    __slots__ = ["app", "customer_id", "environment", "read_mask"]
    APP_FIELD_NUMBER: _ClassVar[int]
    CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    READ_MASK_FIELD_NUMBER: _ClassVar[int]
    app: str
    customer_id: str
    environment: _environment_pb2.Environment
    read_mask: _field_mask_pb2.FieldMask
    def __init__(self, app: _Optional[str] = ..., customer_id: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., read_mask: _Optional[_Union[_field_mask_pb2.FieldMask, _Mapping[str, _Any]]] = ...) -> None: ...

class GetCustomerResponse(_message.Message):
    __slots__ = ["active_in_environments", "app_installs", "consumables", "consumption_consent", "customer_id", "entitlements", "environment", "evaluated_at", "grants", "known", "products", "sequence", "subscription_groups", "token_conflicts"]
    ACTIVE_IN_ENVIRONMENTS_FIELD_NUMBER: _ClassVar[int]
    APP_INSTALLS_FIELD_NUMBER: _ClassVar[int]
    CONSUMABLES_FIELD_NUMBER: _ClassVar[int]
    CONSUMPTION_CONSENT_FIELD_NUMBER: _ClassVar[int]
    CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    ENTITLEMENTS_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    EVALUATED_AT_FIELD_NUMBER: _ClassVar[int]
    GRANTS_FIELD_NUMBER: _ClassVar[int]
    KNOWN_FIELD_NUMBER: _ClassVar[int]
    PRODUCTS_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    SUBSCRIPTION_GROUPS_FIELD_NUMBER: _ClassVar[int]
    TOKEN_CONFLICTS_FIELD_NUMBER: _ClassVar[int]
    active_in_environments: _containers.RepeatedScalarFieldContainer[_environment_pb2.Environment]
    app_installs: _containers.RepeatedCompositeFieldContainer[AppInstall]
    consumables: _containers.RepeatedCompositeFieldContainer[ConsumableBalance]
    consumption_consent: _entitlement_pb2.ConsumptionConsent
    customer_id: str
    entitlements: _containers.RepeatedCompositeFieldContainer[_entitlement_pb2.Entitlement]
    environment: _environment_pb2.Environment
    evaluated_at: _timestamp_pb2.Timestamp
    grants: _containers.RepeatedCompositeFieldContainer[Grant]
    known: bool
    products: _containers.RepeatedCompositeFieldContainer[CustomerProduct]
    sequence: int
    subscription_groups: _containers.RepeatedCompositeFieldContainer[CustomerSubscriptionGroup]
    token_conflicts: _containers.RepeatedCompositeFieldContainer[TokenConflict]
    def __init__(self, customer_id: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., entitlements: _Optional[_Iterable[_Union[_entitlement_pb2.Entitlement, _Mapping[str, _Any]]]] = ..., products: _Optional[_Iterable[_Union[CustomerProduct, _Mapping[str, _Any]]]] = ..., subscription_groups: _Optional[_Iterable[_Union[CustomerSubscriptionGroup, _Mapping[str, _Any]]]] = ..., consumables: _Optional[_Iterable[_Union[ConsumableBalance, _Mapping[str, _Any]]]] = ..., grants: _Optional[_Iterable[_Union[Grant, _Mapping[str, _Any]]]] = ..., sequence: _Optional[int] = ..., evaluated_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., consumption_consent: _Optional[_Union[_entitlement_pb2.ConsumptionConsent, _Mapping[str, _Any]]] = ..., token_conflicts: _Optional[_Iterable[_Union[TokenConflict, _Mapping[str, _Any]]]] = ..., known: bool = ..., active_in_environments: _Optional[_Iterable[_Union[_environment_pb2.Environment, str]]] = ..., app_installs: _Optional[_Iterable[_Union[AppInstall, _Mapping[str, _Any]]]] = ...) -> None: ...

class GetProbableFamilyRequest(_message.Message):
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
    def __init__(self, app: _Optional[str] = ..., customer_id: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class GetProbableFamilyResponse(_message.Message):
    __slots__ = ["members", "next_page_token"]
    MEMBERS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    members: _containers.RepeatedCompositeFieldContainer[ProbableFamilyMember]
    next_page_token: str
    def __init__(self, members: _Optional[_Iterable[_Union[ProbableFamilyMember, _Mapping[str, _Any]]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class Grant(_message.Message):
    __slots__ = ["access_level", "actor", "app", "customer_id", "entitlement", "environment", "external_id", "grant_id", "note", "product_id", "revision", "revoked_at", "since", "source", "until"]
    ACCESS_LEVEL_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    APP_FIELD_NUMBER: _ClassVar[int]
    CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    ENTITLEMENT_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    EXTERNAL_ID_FIELD_NUMBER: _ClassVar[int]
    GRANT_ID_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    PRODUCT_ID_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    REVOKED_AT_FIELD_NUMBER: _ClassVar[int]
    SINCE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    UNTIL_FIELD_NUMBER: _ClassVar[int]
    access_level: _entitlement_pb2.AccessLevel
    actor: str
    app: str
    customer_id: str
    entitlement: str
    environment: _environment_pb2.Environment
    external_id: str
    grant_id: str
    note: str
    product_id: str
    revision: int
    revoked_at: _timestamp_pb2.Timestamp
    since: _timestamp_pb2.Timestamp
    source: str
    until: _timestamp_pb2.Timestamp
    def __init__(self, grant_id: _Optional[str] = ..., app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., customer_id: _Optional[str] = ..., entitlement: _Optional[str] = ..., access_level: _Optional[_Union[_entitlement_pb2.AccessLevel, str]] = ..., since: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., until: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., revoked_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., note: _Optional[str] = ..., actor: _Optional[str] = ..., source: _Optional[str] = ..., external_id: _Optional[str] = ..., product_id: _Optional[str] = ..., revision: _Optional[int] = ...) -> None: ...

class GrantRequest(_message.Message):
    __slots__ = ["access_level", "actor", "app", "customer_id", "dry_run", "entitlement", "environment", "external_id", "idempotency_key", "note", "product_id", "refunded_at", "revision", "since", "source", "until"]
    ACCESS_LEVEL_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    APP_FIELD_NUMBER: _ClassVar[int]
    CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    ENTITLEMENT_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    EXTERNAL_ID_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    PRODUCT_ID_FIELD_NUMBER: _ClassVar[int]
    REFUNDED_AT_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    SINCE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    UNTIL_FIELD_NUMBER: _ClassVar[int]
    access_level: _entitlement_pb2.AccessLevel
    actor: str
    app: str
    customer_id: str
    dry_run: bool
    entitlement: str
    environment: _environment_pb2.Environment
    external_id: str
    idempotency_key: str
    note: str
    product_id: str
    refunded_at: _timestamp_pb2.Timestamp
    revision: int
    since: _timestamp_pb2.Timestamp
    source: str
    until: _timestamp_pb2.Timestamp
    def __init__(self, app: _Optional[str] = ..., customer_id: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., entitlement: _Optional[str] = ..., access_level: _Optional[_Union[_entitlement_pb2.AccessLevel, str]] = ..., since: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., until: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., note: _Optional[str] = ..., actor: _Optional[str] = ..., idempotency_key: _Optional[str] = ..., dry_run: bool = ..., source: _Optional[str] = ..., external_id: _Optional[str] = ..., product_id: _Optional[str] = ..., revision: _Optional[int] = ..., refunded_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ...) -> None: ...

class GrantResponse(_message.Message):
    __slots__ = ["entitlement", "events", "grant", "position", "repeated", "superseded"]
    ENTITLEMENT_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    GRANT_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    REPEATED_FIELD_NUMBER: _ClassVar[int]
    SUPERSEDED_FIELD_NUMBER: _ClassVar[int]
    entitlement: _entitlement_pb2.Entitlement
    events: _containers.RepeatedCompositeFieldContainer[EntitlementEvent]
    grant: Grant
    position: str
    repeated: bool
    superseded: bool
    def __init__(self, grant: _Optional[_Union[Grant, _Mapping[str, _Any]]] = ..., entitlement: _Optional[_Union[_entitlement_pb2.Entitlement, _Mapping[str, _Any]]] = ..., repeated: bool = ..., events: _Optional[_Iterable[_Union[EntitlementEvent, _Mapping[str, _Any]]]] = ..., superseded: bool = ..., position: _Optional[str] = ...) -> None: ...

class Heartbeat(_message.Message):
    __slots__ = ["time"]
    TIME_FIELD_NUMBER: _ClassVar[int]
    time: _timestamp_pb2.Timestamp
    def __init__(self, time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ...) -> None: ...

class IssueTokenRequest(_message.Message):
    __slots__ = ["app", "audience", "customer_id", "entitlements", "environment", "lifetime"]
    APP_FIELD_NUMBER: _ClassVar[int]
    AUDIENCE_FIELD_NUMBER: _ClassVar[int]
    CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    ENTITLEMENTS_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    LIFETIME_FIELD_NUMBER: _ClassVar[int]
    app: str
    audience: str
    customer_id: str
    entitlements: _containers.RepeatedScalarFieldContainer[str]
    environment: _environment_pb2.Environment
    lifetime: _duration_pb2.Duration
    def __init__(self, app: _Optional[str] = ..., customer_id: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., entitlements: _Optional[_Iterable[str]] = ..., audience: _Optional[str] = ..., lifetime: _Optional[_Union[_duration_pb2.Duration, _Mapping[str, _Any]]] = ...) -> None: ...

class IssueTokenResponse(_message.Message):
    __slots__ = ["expires_at", "key_id", "token"]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    KEY_ID_FIELD_NUMBER: _ClassVar[int]
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    expires_at: _timestamp_pb2.Timestamp
    key_id: str
    token: str
    def __init__(self, token: _Optional[str] = ..., expires_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., key_id: _Optional[str] = ...) -> None: ...

class LaterChange(_message.Message):
    __slots__ = ["catalog_fingerprint", "evidence_id", "explanation", "kind", "recorded_at"]
    CATALOG_FINGERPRINT_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_ID_FIELD_NUMBER: _ClassVar[int]
    EXPLANATION_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    RECORDED_AT_FIELD_NUMBER: _ClassVar[int]
    catalog_fingerprint: str
    evidence_id: int
    explanation: str
    kind: str
    recorded_at: _timestamp_pb2.Timestamp
    def __init__(self, kind: _Optional[str] = ..., evidence_id: _Optional[int] = ..., catalog_fingerprint: _Optional[str] = ..., recorded_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., explanation: _Optional[str] = ...) -> None: ...

class LinkPurchaseRequest(_message.Message):
    __slots__ = ["actor", "app", "customer_id", "dry_run", "environment", "idempotency_key", "note", "original_transaction_id", "policy"]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    APP_FIELD_NUMBER: _ClassVar[int]
    CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    ORIGINAL_TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    actor: str
    app: str
    customer_id: str
    dry_run: bool
    environment: _environment_pb2.Environment
    idempotency_key: str
    note: str
    original_transaction_id: str
    policy: OwnershipPolicy
    def __init__(self, app: _Optional[str] = ..., customer_id: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., original_transaction_id: _Optional[str] = ..., policy: _Optional[_Union[OwnershipPolicy, str]] = ..., actor: _Optional[str] = ..., dry_run: bool = ..., note: _Optional[str] = ..., idempotency_key: _Optional[str] = ...) -> None: ...

class LinkPurchaseResponse(_message.Message):
    __slots__ = ["events", "position", "previous_customer_id", "repeated", "transfer_id"]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    PREVIOUS_CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    REPEATED_FIELD_NUMBER: _ClassVar[int]
    TRANSFER_ID_FIELD_NUMBER: _ClassVar[int]
    events: _containers.RepeatedCompositeFieldContainer[EntitlementEvent]
    position: str
    previous_customer_id: str
    repeated: bool
    transfer_id: str
    def __init__(self, transfer_id: _Optional[str] = ..., previous_customer_id: _Optional[str] = ..., events: _Optional[_Iterable[_Union[EntitlementEvent, _Mapping[str, _Any]]]] = ..., repeated: bool = ..., position: _Optional[str] = ...) -> None: ...

class ListGrantsRequest(_message.Message):
    __slots__ = ["app", "customer_id", "environment", "page_size", "page_token", "source"]
    APP_FIELD_NUMBER: _ClassVar[int]
    CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    app: str
    customer_id: str
    environment: _environment_pb2.Environment
    page_size: int
    page_token: str
    source: str
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., customer_id: _Optional[str] = ..., source: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListGrantsResponse(_message.Message):
    __slots__ = ["grants", "next_page_token"]
    GRANTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    grants: _containers.RepeatedCompositeFieldContainer[Grant]
    next_page_token: str
    def __init__(self, grants: _Optional[_Iterable[_Union[Grant, _Mapping[str, _Any]]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ListTimelineRequest(_message.Message):
    __slots__ = ["app", "customer_id", "entitlements", "environment", "include_notifications", "include_webhooks", "newest_first", "page_size", "page_token", "types"]
    APP_FIELD_NUMBER: _ClassVar[int]
    CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    ENTITLEMENTS_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_NOTIFICATIONS_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_WEBHOOKS_FIELD_NUMBER: _ClassVar[int]
    NEWEST_FIRST_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    TYPES_FIELD_NUMBER: _ClassVar[int]
    app: str
    customer_id: str
    entitlements: _containers.RepeatedScalarFieldContainer[str]
    environment: _environment_pb2.Environment
    include_notifications: bool
    include_webhooks: bool
    newest_first: bool
    page_size: int
    page_token: str
    types: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, app: _Optional[str] = ..., customer_id: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., include_notifications: bool = ..., newest_first: bool = ..., types: _Optional[_Iterable[str]] = ..., entitlements: _Optional[_Iterable[str]] = ..., include_webhooks: bool = ...) -> None: ...

class ListTimelineResponse(_message.Message):
    __slots__ = ["deliveries", "events", "next_page_token", "notifications"]
    DELIVERIES_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    NOTIFICATIONS_FIELD_NUMBER: _ClassVar[int]
    deliveries: _containers.RepeatedCompositeFieldContainer[EventDelivery]
    events: _containers.RepeatedCompositeFieldContainer[EntitlementEvent]
    next_page_token: str
    notifications: _containers.RepeatedCompositeFieldContainer[_notification_service_pb2.Notification]
    def __init__(self, events: _Optional[_Iterable[_Union[EntitlementEvent, _Mapping[str, _Any]]]] = ..., next_page_token: _Optional[str] = ..., notifications: _Optional[_Iterable[_Union[_notification_service_pb2.Notification, _Mapping[str, _Any]]]] = ..., deliveries: _Optional[_Iterable[_Union[EventDelivery, _Mapping[str, _Any]]]] = ...) -> None: ...

class ListUnclaimedPurchasesRequest(_message.Message):
    __slots__ = ["app", "environment", "page_size", "page_token"]
    APP_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    app: str
    environment: _environment_pb2.Environment
    page_size: int
    page_token: str
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListUnclaimedPurchasesResponse(_message.Message):
    __slots__ = ["candidates", "next_page_token", "transactions"]
    CANDIDATES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    TRANSACTIONS_FIELD_NUMBER: _ClassVar[int]
    candidates: _containers.RepeatedCompositeFieldContainer[OwnerCandidate]
    next_page_token: str
    transactions: _containers.RepeatedCompositeFieldContainer[_transaction_pb2.Transaction]
    def __init__(self, transactions: _Optional[_Iterable[_Union[_transaction_pb2.Transaction, _Mapping[str, _Any]]]] = ..., next_page_token: _Optional[str] = ..., candidates: _Optional[_Iterable[_Union[OwnerCandidate, _Mapping[str, _Any]]]] = ...) -> None: ...

class ListUnfulfilledPurchasesRequest(_message.Message):
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

class ListUnfulfilledPurchasesResponse(_message.Message):
    __slots__ = ["next_page_token", "purchases"]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    PURCHASES_FIELD_NUMBER: _ClassVar[int]
    next_page_token: str
    purchases: _containers.RepeatedCompositeFieldContainer[UnfulfilledPurchase]
    def __init__(self, purchases: _Optional[_Iterable[_Union[UnfulfilledPurchase, _Mapping[str, _Any]]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class MergeCustomersRequest(_message.Message):
    __slots__ = ["actor", "app", "dry_run", "environment", "from_customer_id", "idempotency_key", "into_customer_id", "note"]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    APP_FIELD_NUMBER: _ClassVar[int]
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    FROM_CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    INTO_CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    actor: str
    app: str
    dry_run: bool
    environment: _environment_pb2.Environment
    from_customer_id: str
    idempotency_key: str
    into_customer_id: str
    note: str
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., from_customer_id: _Optional[str] = ..., into_customer_id: _Optional[str] = ..., actor: _Optional[str] = ..., dry_run: bool = ..., note: _Optional[str] = ..., idempotency_key: _Optional[str] = ...) -> None: ...

class MergeCustomersResponse(_message.Message):
    __slots__ = ["events", "original_transaction_ids", "position", "repeated", "transfer_id"]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    ORIGINAL_TRANSACTION_IDS_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    REPEATED_FIELD_NUMBER: _ClassVar[int]
    TRANSFER_ID_FIELD_NUMBER: _ClassVar[int]
    events: _containers.RepeatedCompositeFieldContainer[EntitlementEvent]
    original_transaction_ids: _containers.RepeatedScalarFieldContainer[str]
    position: str
    repeated: bool
    transfer_id: str
    def __init__(self, transfer_id: _Optional[str] = ..., original_transaction_ids: _Optional[_Iterable[str]] = ..., events: _Optional[_Iterable[_Union[EntitlementEvent, _Mapping[str, _Any]]]] = ..., repeated: bool = ..., position: _Optional[str] = ...) -> None: ...

class OwnerCandidate(_message.Message):
    __slots__ = ["customer_id", "original_transaction_id", "reason"]
    CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    ORIGINAL_TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    customer_id: str
    original_transaction_id: str
    reason: str
    def __init__(self, original_transaction_id: _Optional[str] = ..., customer_id: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class ProbableFamilyMember(_message.Message):
    __slots__ = ["confidence", "customer_id", "grounds", "in_app_ownership_type", "original_transaction_id"]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    GROUNDS_FIELD_NUMBER: _ClassVar[int]
    IN_APP_OWNERSHIP_TYPE_FIELD_NUMBER: _ClassVar[int]
    ORIGINAL_TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    confidence: float
    customer_id: str
    grounds: _containers.RepeatedScalarFieldContainer[str]
    in_app_ownership_type: _product_pb2.InAppOwnershipType
    original_transaction_id: str
    def __init__(self, customer_id: _Optional[str] = ..., original_transaction_id: _Optional[str] = ..., in_app_ownership_type: _Optional[_Union[_product_pb2.InAppOwnershipType, str]] = ..., confidence: _Optional[float] = ..., grounds: _Optional[_Iterable[str]] = ...) -> None: ...

class RegisterAppAccountTokenRequest(_message.Message):
    __slots__ = ["actor", "app", "app_account_token", "customer_id", "dry_run", "environment", "idempotency_key", "note"]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    APP_ACCOUNT_TOKEN_FIELD_NUMBER: _ClassVar[int]
    APP_FIELD_NUMBER: _ClassVar[int]
    CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    actor: str
    app: str
    app_account_token: str
    customer_id: str
    dry_run: bool
    environment: _environment_pb2.Environment
    idempotency_key: str
    note: str
    def __init__(self, app: _Optional[str] = ..., customer_id: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., app_account_token: _Optional[str] = ..., actor: _Optional[str] = ..., dry_run: bool = ..., idempotency_key: _Optional[str] = ..., note: _Optional[str] = ...) -> None: ...

class RegisterAppAccountTokenResponse(_message.Message):
    __slots__ = ["events", "original_transaction_ids", "position", "repeated"]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    ORIGINAL_TRANSACTION_IDS_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    REPEATED_FIELD_NUMBER: _ClassVar[int]
    events: _containers.RepeatedCompositeFieldContainer[EntitlementEvent]
    original_transaction_ids: _containers.RepeatedScalarFieldContainer[str]
    position: str
    repeated: bool
    def __init__(self, original_transaction_ids: _Optional[_Iterable[str]] = ..., events: _Optional[_Iterable[_Union[EntitlementEvent, _Mapping[str, _Any]]]] = ..., repeated: bool = ..., position: _Optional[str] = ...) -> None: ...

class RevokeGrantRequest(_message.Message):
    __slots__ = ["actor", "app", "dry_run", "grant_id", "idempotency_key", "note"]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    APP_FIELD_NUMBER: _ClassVar[int]
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    GRANT_ID_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    actor: str
    app: str
    dry_run: bool
    grant_id: str
    idempotency_key: str
    note: str
    def __init__(self, app: _Optional[str] = ..., grant_id: _Optional[str] = ..., actor: _Optional[str] = ..., note: _Optional[str] = ..., dry_run: bool = ..., idempotency_key: _Optional[str] = ...) -> None: ...

class RevokeGrantResponse(_message.Message):
    __slots__ = ["entitlement", "events", "grant", "position", "repeated"]
    ENTITLEMENT_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    GRANT_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    REPEATED_FIELD_NUMBER: _ClassVar[int]
    entitlement: _entitlement_pb2.Entitlement
    events: _containers.RepeatedCompositeFieldContainer[EntitlementEvent]
    grant: Grant
    position: str
    repeated: bool
    def __init__(self, grant: _Optional[_Union[Grant, _Mapping[str, _Any]]] = ..., entitlement: _Optional[_Union[_entitlement_pb2.Entitlement, _Mapping[str, _Any]]] = ..., events: _Optional[_Iterable[_Union[EntitlementEvent, _Mapping[str, _Any]]]] = ..., repeated: bool = ..., position: _Optional[str] = ...) -> None: ...

class TokenConflict(_message.Message):
    __slots__ = ["original_transaction_id", "token_customer_id"]
    ORIGINAL_TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    TOKEN_CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    original_transaction_id: str
    token_customer_id: str
    def __init__(self, original_transaction_id: _Optional[str] = ..., token_customer_id: _Optional[str] = ...) -> None: ...

class TransferPurchaseRequest(_message.Message):
    __slots__ = ["actor", "app", "dry_run", "environment", "from_customer_id", "idempotency_key", "note", "original_transaction_id", "policy", "to_customer_id"]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    APP_FIELD_NUMBER: _ClassVar[int]
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    FROM_CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    ORIGINAL_TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    TO_CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    actor: str
    app: str
    dry_run: bool
    environment: _environment_pb2.Environment
    from_customer_id: str
    idempotency_key: str
    note: str
    original_transaction_id: str
    policy: OwnershipPolicy
    to_customer_id: str
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., original_transaction_id: _Optional[str] = ..., from_customer_id: _Optional[str] = ..., to_customer_id: _Optional[str] = ..., policy: _Optional[_Union[OwnershipPolicy, str]] = ..., actor: _Optional[str] = ..., note: _Optional[str] = ..., dry_run: bool = ..., idempotency_key: _Optional[str] = ...) -> None: ...

class TransferPurchaseResponse(_message.Message):
    __slots__ = ["events", "position", "repeated", "transfer_id"]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    REPEATED_FIELD_NUMBER: _ClassVar[int]
    TRANSFER_ID_FIELD_NUMBER: _ClassVar[int]
    events: _containers.RepeatedCompositeFieldContainer[EntitlementEvent]
    position: str
    repeated: bool
    transfer_id: str
    def __init__(self, transfer_id: _Optional[str] = ..., events: _Optional[_Iterable[_Union[EntitlementEvent, _Mapping[str, _Any]]]] = ..., repeated: bool = ..., position: _Optional[str] = ...) -> None: ...

class UndoTransferRequest(_message.Message):
    __slots__ = ["actor", "app", "dry_run", "idempotency_key", "note", "transfer_id"]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    APP_FIELD_NUMBER: _ClassVar[int]
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    TRANSFER_ID_FIELD_NUMBER: _ClassVar[int]
    actor: str
    app: str
    dry_run: bool
    idempotency_key: str
    note: str
    transfer_id: str
    def __init__(self, app: _Optional[str] = ..., transfer_id: _Optional[str] = ..., actor: _Optional[str] = ..., dry_run: bool = ..., note: _Optional[str] = ..., idempotency_key: _Optional[str] = ...) -> None: ...

class UndoTransferResponse(_message.Message):
    __slots__ = ["events", "position", "repeated"]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    REPEATED_FIELD_NUMBER: _ClassVar[int]
    events: _containers.RepeatedCompositeFieldContainer[EntitlementEvent]
    position: str
    repeated: bool
    def __init__(self, events: _Optional[_Iterable[_Union[EntitlementEvent, _Mapping[str, _Any]]]] = ..., repeated: bool = ..., position: _Optional[str] = ...) -> None: ...

class UnfulfilledPurchase(_message.Message):
    __slots__ = ["customer_id", "transaction", "units"]
    CUSTOMER_ID_FIELD_NUMBER: _ClassVar[int]
    TRANSACTION_FIELD_NUMBER: _ClassVar[int]
    UNITS_FIELD_NUMBER: _ClassVar[int]
    customer_id: str
    transaction: _transaction_pb2.Transaction
    units: int
    def __init__(self, customer_id: _Optional[str] = ..., transaction: _Optional[_Union[_transaction_pb2.Transaction, _Mapping[str, _Any]]] = ..., units: _Optional[int] = ...) -> None: ...

class WatchRequest(_message.Message):
    __slots__ = ["after_position", "after_sequence", "app", "customer_ids", "entitlements", "environment", "from_beginning", "heartbeat_interval"]
    AFTER_POSITION_FIELD_NUMBER: _ClassVar[int]
    AFTER_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    APP_FIELD_NUMBER: _ClassVar[int]
    CUSTOMER_IDS_FIELD_NUMBER: _ClassVar[int]
    ENTITLEMENTS_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    FROM_BEGINNING_FIELD_NUMBER: _ClassVar[int]
    HEARTBEAT_INTERVAL_FIELD_NUMBER: _ClassVar[int]
    after_position: str
    after_sequence: int
    app: str
    customer_ids: _containers.RepeatedScalarFieldContainer[str]
    entitlements: _containers.RepeatedScalarFieldContainer[str]
    environment: _environment_pb2.Environment
    from_beginning: bool
    heartbeat_interval: _duration_pb2.Duration
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., customer_ids: _Optional[_Iterable[str]] = ..., entitlements: _Optional[_Iterable[str]] = ..., after_sequence: _Optional[int] = ..., from_beginning: bool = ..., after_position: _Optional[str] = ..., heartbeat_interval: _Optional[_Union[_duration_pb2.Duration, _Mapping[str, _Any]]] = ...) -> None: ...

class WatchResponse(_message.Message):
    __slots__ = ["event", "heartbeat", "position", "sequence"]
    EVENT_FIELD_NUMBER: _ClassVar[int]
    HEARTBEAT_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    event: EntitlementEvent
    heartbeat: Heartbeat
    position: str
    sequence: int
    def __init__(self, sequence: _Optional[int] = ..., event: _Optional[_Union[EntitlementEvent, _Mapping[str, _Any]]] = ..., heartbeat: _Optional[_Union[Heartbeat, _Mapping[str, _Any]]] = ..., position: _Optional[str] = ...) -> None: ...

class OtherCustomerRole(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []

class EventDeliveryState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []

class OwnershipPolicy(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []
