from entitled.v1 import environment_pb2 as _environment_pb2
from entitled.v1 import product_pb2 as _product_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import Any as _Any, ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor
PRICE_INCREASE_STATUS_ACCEPTED: PriceIncreaseStatus
PRICE_INCREASE_STATUS_PENDING: PriceIncreaseStatus
PRICE_INCREASE_STATUS_UNSPECIFIED: PriceIncreaseStatus

class RenewalCommitmentInfo(_message.Message):
    __slots__ = ["commitment_auto_renew_product_id", "commitment_auto_renew_status_raw", "commitment_renewal_billing_plan_type", "commitment_renewal_billing_plan_type_raw", "commitment_renewal_date", "commitment_renewal_price", "commitment_will_auto_renew"]
    COMMITMENT_AUTO_RENEW_PRODUCT_ID_FIELD_NUMBER: _ClassVar[int]
    COMMITMENT_AUTO_RENEW_STATUS_RAW_FIELD_NUMBER: _ClassVar[int]
    COMMITMENT_RENEWAL_BILLING_PLAN_TYPE_FIELD_NUMBER: _ClassVar[int]
    COMMITMENT_RENEWAL_BILLING_PLAN_TYPE_RAW_FIELD_NUMBER: _ClassVar[int]
    COMMITMENT_RENEWAL_DATE_FIELD_NUMBER: _ClassVar[int]
    COMMITMENT_RENEWAL_PRICE_FIELD_NUMBER: _ClassVar[int]
    COMMITMENT_WILL_AUTO_RENEW_FIELD_NUMBER: _ClassVar[int]
    commitment_auto_renew_product_id: str
    commitment_auto_renew_status_raw: str
    commitment_renewal_billing_plan_type: _product_pb2.BillingPlanType
    commitment_renewal_billing_plan_type_raw: str
    commitment_renewal_date: _timestamp_pb2.Timestamp
    commitment_renewal_price: _product_pb2.Money
    commitment_will_auto_renew: bool
    def __init__(self, commitment_auto_renew_product_id: _Optional[str] = ..., commitment_will_auto_renew: bool = ..., commitment_renewal_billing_plan_type: _Optional[_Union[_product_pb2.BillingPlanType, str]] = ..., commitment_renewal_date: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., commitment_renewal_price: _Optional[_Union[_product_pb2.Money, _Mapping[str, _Any]]] = ..., commitment_auto_renew_status_raw: _Optional[str] = ..., commitment_renewal_billing_plan_type_raw: _Optional[str] = ...) -> None: ...

class RenewalInfo(_message.Message):
    __slots__ = ["auto_renew_product_id", "auto_renew_status_raw", "commitment_info", "eligible_win_back_offer_ids", "environment", "expiration_intent", "expiration_intent_raw", "grace_period_expires_date", "is_in_billing_retry_period", "offer_discount_type", "offer_discount_type_raw", "offer_identifier", "offer_type", "offer_type_raw", "original_transaction_id", "price_increase_status", "price_increase_status_raw", "product_id", "recent_subscription_start_date", "renewal_billing_plan_type", "renewal_billing_plan_type_raw", "renewal_date", "renewal_price", "signed_date", "will_auto_renew"]
    AUTO_RENEW_PRODUCT_ID_FIELD_NUMBER: _ClassVar[int]
    AUTO_RENEW_STATUS_RAW_FIELD_NUMBER: _ClassVar[int]
    COMMITMENT_INFO_FIELD_NUMBER: _ClassVar[int]
    ELIGIBLE_WIN_BACK_OFFER_IDS_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    EXPIRATION_INTENT_FIELD_NUMBER: _ClassVar[int]
    EXPIRATION_INTENT_RAW_FIELD_NUMBER: _ClassVar[int]
    GRACE_PERIOD_EXPIRES_DATE_FIELD_NUMBER: _ClassVar[int]
    IS_IN_BILLING_RETRY_PERIOD_FIELD_NUMBER: _ClassVar[int]
    OFFER_DISCOUNT_TYPE_FIELD_NUMBER: _ClassVar[int]
    OFFER_DISCOUNT_TYPE_RAW_FIELD_NUMBER: _ClassVar[int]
    OFFER_IDENTIFIER_FIELD_NUMBER: _ClassVar[int]
    OFFER_TYPE_FIELD_NUMBER: _ClassVar[int]
    OFFER_TYPE_RAW_FIELD_NUMBER: _ClassVar[int]
    ORIGINAL_TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    PRICE_INCREASE_STATUS_FIELD_NUMBER: _ClassVar[int]
    PRICE_INCREASE_STATUS_RAW_FIELD_NUMBER: _ClassVar[int]
    PRODUCT_ID_FIELD_NUMBER: _ClassVar[int]
    RECENT_SUBSCRIPTION_START_DATE_FIELD_NUMBER: _ClassVar[int]
    RENEWAL_BILLING_PLAN_TYPE_FIELD_NUMBER: _ClassVar[int]
    RENEWAL_BILLING_PLAN_TYPE_RAW_FIELD_NUMBER: _ClassVar[int]
    RENEWAL_DATE_FIELD_NUMBER: _ClassVar[int]
    RENEWAL_PRICE_FIELD_NUMBER: _ClassVar[int]
    SIGNED_DATE_FIELD_NUMBER: _ClassVar[int]
    WILL_AUTO_RENEW_FIELD_NUMBER: _ClassVar[int]
    auto_renew_product_id: str
    auto_renew_status_raw: str
    commitment_info: RenewalCommitmentInfo
    eligible_win_back_offer_ids: _containers.RepeatedScalarFieldContainer[str]
    environment: _environment_pb2.Environment
    expiration_intent: int
    expiration_intent_raw: str
    grace_period_expires_date: _timestamp_pb2.Timestamp
    is_in_billing_retry_period: bool
    offer_discount_type: _product_pb2.OfferDiscountType
    offer_discount_type_raw: str
    offer_identifier: str
    offer_type: _product_pb2.OfferType
    offer_type_raw: str
    original_transaction_id: str
    price_increase_status: PriceIncreaseStatus
    price_increase_status_raw: str
    product_id: str
    recent_subscription_start_date: _timestamp_pb2.Timestamp
    renewal_billing_plan_type: _product_pb2.BillingPlanType
    renewal_billing_plan_type_raw: str
    renewal_date: _timestamp_pb2.Timestamp
    renewal_price: _product_pb2.Money
    signed_date: _timestamp_pb2.Timestamp
    will_auto_renew: bool
    def __init__(self, original_transaction_id: _Optional[str] = ..., product_id: _Optional[str] = ..., auto_renew_product_id: _Optional[str] = ..., will_auto_renew: bool = ..., expiration_intent: _Optional[int] = ..., is_in_billing_retry_period: bool = ..., grace_period_expires_date: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., renewal_date: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., renewal_price: _Optional[_Union[_product_pb2.Money, _Mapping[str, _Any]]] = ..., price_increase_status: _Optional[_Union[PriceIncreaseStatus, str]] = ..., eligible_win_back_offer_ids: _Optional[_Iterable[str]] = ..., recent_subscription_start_date: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., signed_date: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., renewal_billing_plan_type: _Optional[_Union[_product_pb2.BillingPlanType, str]] = ..., commitment_info: _Optional[_Union[RenewalCommitmentInfo, _Mapping[str, _Any]]] = ..., offer_type: _Optional[_Union[_product_pb2.OfferType, str]] = ..., offer_identifier: _Optional[str] = ..., offer_discount_type: _Optional[_Union[_product_pb2.OfferDiscountType, str]] = ..., auto_renew_status_raw: _Optional[str] = ..., expiration_intent_raw: _Optional[str] = ..., price_increase_status_raw: _Optional[str] = ..., renewal_billing_plan_type_raw: _Optional[str] = ..., offer_type_raw: _Optional[str] = ..., offer_discount_type_raw: _Optional[str] = ...) -> None: ...

class Transaction(_message.Message):
    __slots__ = ["app_account_token", "app_transaction_id", "billing_plan_type", "billing_plan_type_raw", "bundle_id", "commitment_info", "environment", "expires_date", "from_receipt", "in_app_ownership_type", "in_app_ownership_type_raw", "is_upgraded", "offer_discount_type", "offer_discount_type_raw", "offer_identifier", "offer_type", "offer_type_raw", "original_purchase_date", "original_transaction_id", "price", "product_id", "purchase_date", "quantity", "revocation_date", "revocation_reason", "revocation_reason_raw", "revocation_type", "revoked_seat_quantity", "signed_date", "storefront", "subscription_group_identifier", "transaction_id", "transaction_reason", "type", "type_raw", "web_order_line_item_id"]
    APP_ACCOUNT_TOKEN_FIELD_NUMBER: _ClassVar[int]
    APP_TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    BILLING_PLAN_TYPE_FIELD_NUMBER: _ClassVar[int]
    BILLING_PLAN_TYPE_RAW_FIELD_NUMBER: _ClassVar[int]
    BUNDLE_ID_FIELD_NUMBER: _ClassVar[int]
    COMMITMENT_INFO_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_DATE_FIELD_NUMBER: _ClassVar[int]
    FROM_RECEIPT_FIELD_NUMBER: _ClassVar[int]
    IN_APP_OWNERSHIP_TYPE_FIELD_NUMBER: _ClassVar[int]
    IN_APP_OWNERSHIP_TYPE_RAW_FIELD_NUMBER: _ClassVar[int]
    IS_UPGRADED_FIELD_NUMBER: _ClassVar[int]
    OFFER_DISCOUNT_TYPE_FIELD_NUMBER: _ClassVar[int]
    OFFER_DISCOUNT_TYPE_RAW_FIELD_NUMBER: _ClassVar[int]
    OFFER_IDENTIFIER_FIELD_NUMBER: _ClassVar[int]
    OFFER_TYPE_FIELD_NUMBER: _ClassVar[int]
    OFFER_TYPE_RAW_FIELD_NUMBER: _ClassVar[int]
    ORIGINAL_PURCHASE_DATE_FIELD_NUMBER: _ClassVar[int]
    ORIGINAL_TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    PRICE_FIELD_NUMBER: _ClassVar[int]
    PRODUCT_ID_FIELD_NUMBER: _ClassVar[int]
    PURCHASE_DATE_FIELD_NUMBER: _ClassVar[int]
    QUANTITY_FIELD_NUMBER: _ClassVar[int]
    REVOCATION_DATE_FIELD_NUMBER: _ClassVar[int]
    REVOCATION_REASON_FIELD_NUMBER: _ClassVar[int]
    REVOCATION_REASON_RAW_FIELD_NUMBER: _ClassVar[int]
    REVOCATION_TYPE_FIELD_NUMBER: _ClassVar[int]
    REVOKED_SEAT_QUANTITY_FIELD_NUMBER: _ClassVar[int]
    SIGNED_DATE_FIELD_NUMBER: _ClassVar[int]
    STOREFRONT_FIELD_NUMBER: _ClassVar[int]
    SUBSCRIPTION_GROUP_IDENTIFIER_FIELD_NUMBER: _ClassVar[int]
    TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    TRANSACTION_REASON_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    TYPE_RAW_FIELD_NUMBER: _ClassVar[int]
    WEB_ORDER_LINE_ITEM_ID_FIELD_NUMBER: _ClassVar[int]
    app_account_token: str
    app_transaction_id: str
    billing_plan_type: _product_pb2.BillingPlanType
    billing_plan_type_raw: str
    bundle_id: str
    commitment_info: TransactionCommitmentInfo
    environment: _environment_pb2.Environment
    expires_date: _timestamp_pb2.Timestamp
    from_receipt: bool
    in_app_ownership_type: _product_pb2.InAppOwnershipType
    in_app_ownership_type_raw: str
    is_upgraded: bool
    offer_discount_type: _product_pb2.OfferDiscountType
    offer_discount_type_raw: str
    offer_identifier: str
    offer_type: _product_pb2.OfferType
    offer_type_raw: str
    original_purchase_date: _timestamp_pb2.Timestamp
    original_transaction_id: str
    price: _product_pb2.Money
    product_id: str
    purchase_date: _timestamp_pb2.Timestamp
    quantity: int
    revocation_date: _timestamp_pb2.Timestamp
    revocation_reason: int
    revocation_reason_raw: str
    revocation_type: str
    revoked_seat_quantity: int
    signed_date: _timestamp_pb2.Timestamp
    storefront: str
    subscription_group_identifier: str
    transaction_id: str
    transaction_reason: str
    type: _product_pb2.ProductType
    type_raw: str
    web_order_line_item_id: str
    def __init__(self, transaction_id: _Optional[str] = ..., original_transaction_id: _Optional[str] = ..., web_order_line_item_id: _Optional[str] = ..., bundle_id: _Optional[str] = ..., product_id: _Optional[str] = ..., subscription_group_identifier: _Optional[str] = ..., type: _Optional[_Union[_product_pb2.ProductType, str]] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., in_app_ownership_type: _Optional[_Union[_product_pb2.InAppOwnershipType, str]] = ..., purchase_date: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., original_purchase_date: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., expires_date: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., revocation_date: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., revocation_reason: _Optional[int] = ..., revocation_type: _Optional[str] = ..., is_upgraded: bool = ..., quantity: _Optional[int] = ..., offer_type: _Optional[_Union[_product_pb2.OfferType, str]] = ..., offer_identifier: _Optional[str] = ..., offer_discount_type: _Optional[_Union[_product_pb2.OfferDiscountType, str]] = ..., app_account_token: _Optional[str] = ..., app_transaction_id: _Optional[str] = ..., price: _Optional[_Union[_product_pb2.Money, _Mapping[str, _Any]]] = ..., storefront: _Optional[str] = ..., transaction_reason: _Optional[str] = ..., signed_date: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., from_receipt: bool = ..., billing_plan_type: _Optional[_Union[_product_pb2.BillingPlanType, str]] = ..., commitment_info: _Optional[_Union[TransactionCommitmentInfo, _Mapping[str, _Any]]] = ..., type_raw: _Optional[str] = ..., in_app_ownership_type_raw: _Optional[str] = ..., offer_type_raw: _Optional[str] = ..., offer_discount_type_raw: _Optional[str] = ..., revocation_reason_raw: _Optional[str] = ..., billing_plan_type_raw: _Optional[str] = ..., revoked_seat_quantity: _Optional[int] = ...) -> None: ...

class TransactionCommitmentInfo(_message.Message):
    __slots__ = ["billing_period_number", "commitment_expires_date", "commitment_price", "remaining_periods", "remaining_price", "total_billing_periods"]
    BILLING_PERIOD_NUMBER_FIELD_NUMBER: _ClassVar[int]
    COMMITMENT_EXPIRES_DATE_FIELD_NUMBER: _ClassVar[int]
    COMMITMENT_PRICE_FIELD_NUMBER: _ClassVar[int]
    REMAINING_PERIODS_FIELD_NUMBER: _ClassVar[int]
    REMAINING_PRICE_FIELD_NUMBER: _ClassVar[int]
    TOTAL_BILLING_PERIODS_FIELD_NUMBER: _ClassVar[int]
    billing_period_number: int
    commitment_expires_date: _timestamp_pb2.Timestamp
    commitment_price: _product_pb2.Money
    remaining_periods: int
    remaining_price: _product_pb2.Money
    total_billing_periods: int
    def __init__(self, billing_period_number: _Optional[int] = ..., total_billing_periods: _Optional[int] = ..., commitment_expires_date: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ..., commitment_price: _Optional[_Union[_product_pb2.Money, _Mapping[str, _Any]]] = ..., remaining_periods: _Optional[int] = ..., remaining_price: _Optional[_Union[_product_pb2.Money, _Mapping[str, _Any]]] = ...) -> None: ...

class PriceIncreaseStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []
