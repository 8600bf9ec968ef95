from entitled.v1 import access_pb2 as _access_pb2
from entitled.v1 import entitlement_pb2 as _entitlement_pb2
from entitled.v1 import environment_pb2 as _environment_pb2
from entitled.v1 import product_pb2 as _product_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import Any as _Any, ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class CatalogEntitlement(_message.Message):
    __slots__ = ["name", "product_ids"]
    NAME_FIELD_NUMBER: _ClassVar[int]
    PRODUCT_IDS_FIELD_NUMBER: _ClassVar[int]
    name: str
    product_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, name: _Optional[str] = ..., product_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class CatalogProduct(_message.Message):
    __slots__ = ["configured_price", "configured_price_period", "duration", "entitlements", "prices", "product_id", "promotional_offer_ids", "subscription_group", "subscription_group_level", "type"]
    CONFIGURED_PRICE_FIELD_NUMBER: _ClassVar[int]
    CONFIGURED_PRICE_PERIOD_FIELD_NUMBER: _ClassVar[int]
    DURATION_FIELD_NUMBER: _ClassVar[int]
    ENTITLEMENTS_FIELD_NUMBER: _ClassVar[int]
    PRICES_FIELD_NUMBER: _ClassVar[int]
    PRODUCT_ID_FIELD_NUMBER: _ClassVar[int]
    PROMOTIONAL_OFFER_IDS_FIELD_NUMBER: _ClassVar[int]
    SUBSCRIPTION_GROUP_FIELD_NUMBER: _ClassVar[int]
    SUBSCRIPTION_GROUP_LEVEL_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    configured_price: _product_pb2.Money
    configured_price_period: str
    duration: str
    entitlements: _containers.RepeatedCompositeFieldContainer[ProductEntitlement]
    prices: _containers.RepeatedCompositeFieldContainer[StorefrontPrice]
    product_id: str
    promotional_offer_ids: _containers.RepeatedScalarFieldContainer[str]
    subscription_group: str
    subscription_group_level: int
    type: _product_pb2.ProductType
    def __init__(self, product_id: _Optional[str] = ..., type: _Optional[_Union[_product_pb2.ProductType, str]] = ..., subscription_group: _Optional[str] = ..., subscription_group_level: _Optional[int] = ..., duration: _Optional[str] = ..., entitlements: _Optional[_Iterable[_Union[ProductEntitlement, _Mapping[str, _Any]]]] = ..., promotional_offer_ids: _Optional[_Iterable[str]] = ..., configured_price: _Optional[_Union[_product_pb2.Money, _Mapping[str, _Any]]] = ..., configured_price_period: _Optional[str] = ..., prices: _Optional[_Iterable[_Union[StorefrontPrice, _Mapping[str, _Any]]]] = ...) -> None: ...

class CatalogSubscriptionGroup(_message.Message):
    __slots__ = ["product_ids", "subscription_group"]
    PRODUCT_IDS_FIELD_NUMBER: _ClassVar[int]
    SUBSCRIPTION_GROUP_FIELD_NUMBER: _ClassVar[int]
    product_ids: _containers.RepeatedScalarFieldContainer[str]
    subscription_group: str
    def __init__(self, subscription_group: _Optional[str] = ..., product_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class GetCatalogRequest(_message.Message):
    __slots__ = ["app", "environment", "page_size", "page_token", "product_ids"]
    APP_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    PRODUCT_IDS_FIELD_NUMBER: _ClassVar[int]
    app: str
    environment: _environment_pb2.Environment
    page_size: int
    page_token: str
    product_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, app: _Optional[str] = ..., environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., product_ids: _Optional[_Iterable[str]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class GetCatalogResponse(_message.Message):
    __slots__ = ["catalog_fingerprint", "entitlements", "environment", "next_page_token", "products", "subscription_groups"]
    CATALOG_FINGERPRINT_FIELD_NUMBER: _ClassVar[int]
    ENTITLEMENTS_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    PRODUCTS_FIELD_NUMBER: _ClassVar[int]
    SUBSCRIPTION_GROUPS_FIELD_NUMBER: _ClassVar[int]
    catalog_fingerprint: str
    entitlements: _containers.RepeatedCompositeFieldContainer[CatalogEntitlement]
    environment: _environment_pb2.Environment
    next_page_token: str
    products: _containers.RepeatedCompositeFieldContainer[CatalogProduct]
    subscription_groups: _containers.RepeatedCompositeFieldContainer[CatalogSubscriptionGroup]
    def __init__(self, environment: _Optional[_Union[_environment_pb2.Environment, str]] = ..., products: _Optional[_Iterable[_Union[CatalogProduct, _Mapping[str, _Any]]]] = ..., entitlements: _Optional[_Iterable[_Union[CatalogEntitlement, _Mapping[str, _Any]]]] = ..., subscription_groups: _Optional[_Iterable[_Union[CatalogSubscriptionGroup, _Mapping[str, _Any]]]] = ..., catalog_fingerprint: _Optional[str] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ProductEntitlement(_message.Message):
    __slots__ = ["access_level", "name"]
    ACCESS_LEVEL_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    access_level: _entitlement_pb2.AccessLevel
    name: str
    def __init__(self, name: _Optional[str] = ..., access_level: _Optional[_Union[_entitlement_pb2.AccessLevel, str]] = ...) -> None: ...

class StorefrontPrice(_message.Message):
    __slots__ = ["billing_plan_type", "price", "seen_at", "storefront", "transaction_reason"]
    BILLING_PLAN_TYPE_FIELD_NUMBER: _ClassVar[int]
    PRICE_FIELD_NUMBER: _ClassVar[int]
    SEEN_AT_FIELD_NUMBER: _ClassVar[int]
    STOREFRONT_FIELD_NUMBER: _ClassVar[int]
    TRANSACTION_REASON_FIELD_NUMBER: _ClassVar[int]
    billing_plan_type: _product_pb2.BillingPlanType
    price: _product_pb2.Money
    seen_at: _timestamp_pb2.Timestamp
    storefront: str
    transaction_reason: str
    def __init__(self, storefront: _Optional[str] = ..., billing_plan_type: _Optional[_Union[_product_pb2.BillingPlanType, str]] = ..., transaction_reason: _Optional[str] = ..., price: _Optional[_Union[_product_pb2.Money, _Mapping[str, _Any]]] = ..., seen_at: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping[str, _Any]]] = ...) -> None: ...
