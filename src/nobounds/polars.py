"""Private statistics as attributes of polars frames, lazy frames and series, added by `import nobounds.polars`.

>>> import polars as pl
>>> frame = pl.DataFrame({"pay": range(5000)})
>>> frame.nb.mean("pay", epsilon=1).statistic, frame["pay"].nb.median(epsilon=1).statistic
('mean', 'median')
"""

from polars.api import register_dataframe_namespace, register_lazyframe_namespace, register_series_namespace

from nobounds.tables.accessors import FrameAccessor, SeriesAccessor

register_dataframe_namespace("nb")(FrameAccessor)
register_lazyframe_namespace("nb")(FrameAccessor)
register_series_namespace("nb")(SeriesAccessor)
