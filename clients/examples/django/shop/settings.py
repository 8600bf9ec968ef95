"""A Django project with nothing but the App Store's purchases."""

import os
import pathlib

from django.core.management.utils import get_random_secret_key

SECRET_KEY = os.environ.get("SECRET_KEY") or get_random_secret_key()
ALLOWED_HOSTS = ["localhost", "127.0.0.1"]
INSTALLED_APPS = ["shop"]
STATIC_URL = "static/"
ROOT_URLCONF = "shop.urls"
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": os.environ.get("DATABASE", "shop.sqlite3")}}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True

# Apple's root in production; the sandbox's in tests.
APP_STORE_ROOT = pathlib.Path(os.environ.get("APP_STORE_ROOT", "AppleRootCA-G3.cer"))
APP_STORE_BUNDLE_ID = os.environ.get("APP_STORE_BUNDLE_ID", "com.example.oceanjournal")
APP_STORE_ENVIRONMENT = os.environ.get("APP_STORE_ENVIRONMENT", "Production")
# The app's Apple ID, which Apple's library needs in production.
APP_STORE_APP_ID = int(os.environ["APP_STORE_APP_ID"]) if "APP_STORE_APP_ID" in os.environ else None
