"""Tables on a Spark cluster."""


def is_spark(data: object) -> bool:
    """Whether an object is a Spark DataFrame; pyspark need not be installed."""
    kinds = ((kind.__module__, kind.__name__) for kind in type(data).__mro__)
    return any(module.startswith("pyspark.sql.") and name == "DataFrame" for module, name in kinds)
