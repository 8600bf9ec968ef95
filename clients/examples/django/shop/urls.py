from django.urls import path

from shop import views

urlpatterns = [path("apple", views.notification), path("customers/<str:customer>", views.customer)]
