from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import Any as _Any, ClassVar as _ClassVar, Optional as _Optional

BILLING_PLAN_TYPE_BILLED_UPFRONT: BillingPlanType
BILLING_PLAN_TYPE_MONTHLY: BillingPlanType
BILLING_PLAN_TYPE_UNSPECIFIED: BillingPlanType
DESCRIPTOR: _descriptor.FileDescriptor
IN_APP_OWNERSHIP_TYPE_ASSIGNED: InAppOwnershipType
IN_APP_OWNERSHIP_TYPE_FAMILY_SHARED: InAppOwnershipType
IN_APP_OWNERSHIP_TYPE_PURCHASED: InAppOwnershipType
IN_APP_OWNERSHIP_TYPE_UNSPECIFIED: InAppOwnershipType
OFFER_DISCOUNT_TYPE_FREE_TRIAL: OfferDiscountType
OFFER_DISCOUNT_TYPE_ONE_TIME: OfferDiscountType
OFFER_DISCOUNT_TYPE_PAY_AS_YOU_GO: OfferDiscountType
OFFER_DISCOUNT_TYPE_PAY_UP_FRONT: OfferDiscountType
OFFER_DISCOUNT_TYPE_UNSPECIFIED: OfferDiscountType
OFFER_TYPE_INTRODUCTORY: OfferType
OFFER_TYPE_OFFER_CODE: OfferType
OFFER_TYPE_PROMOTIONAL: OfferType
OFFER_TYPE_RETENTION: OfferType
OFFER_TYPE_UNSPECIFIED: OfferType
OFFER_TYPE_WIN_BACK: OfferType
PRODUCT_STATE_ACTIVE: ProductState
PRODUCT_STATE_INACTIVE: ProductState
PRODUCT_STATE_NEW: ProductState
PRODUCT_STATE_UNSPECIFIED: ProductState
PRODUCT_TYPE_AUTO_RENEWABLE_SUBSCRIPTION: ProductType
PRODUCT_TYPE_CONSUMABLE: ProductType
PRODUCT_TYPE_NON_CONSUMABLE: ProductType
PRODUCT_TYPE_NON_RENEWING_SUBSCRIPTION: ProductType
PRODUCT_TYPE_UNSPECIFIED: ProductType

class Money(_message.Message):
    __slots__ = ["currency", "milliunits"]
    CURRENCY_FIELD_NUMBER: _ClassVar[int]
    MILLIUNITS_FIELD_NUMBER: _ClassVar[int]
    currency: str
    milliunits: int
    def __init__(self, milliunits: _Optional[int] = ..., currency: _Optional[str] = ...) -> None: ...

class ProductType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []

class InAppOwnershipType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []

class OfferType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []

class OfferDiscountType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []

class BillingPlanType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []

class ProductState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []
