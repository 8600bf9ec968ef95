from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True
    dependencies = []
    operations = [
        migrations.CreateModel(
            name="Purchase",
            fields=[
                ("original_transaction_id", models.CharField(max_length=64, primary_key=True, serialize=False)),
                ("customer", models.CharField(db_index=True, max_length=64)),
                ("product", models.CharField(max_length=255)),
                ("is_active", models.BooleanField()),
                ("signed_at", models.BigIntegerField()),
            ],
        )
    ]
