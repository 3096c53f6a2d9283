"""Private statistics as attributes of pandas frames and series, added by `import nobounds.pandas`.

>>> import pandas as pd
>>> frame = pd.DataFrame({"pay": range(5000)})
>>> frame.nb.mean("pay", epsilon=1).statistic, frame["pay"].nb.median(epsilon=1).statistic
('mean', 'median')
"""

from pandas.api.extensions import register_dataframe_accessor, register_series_accessor

from nobounds.tables.accessors import FrameAccessor, SeriesAccessor

register_dataframe_accessor("nb")(FrameAccessor)
register_series_accessor("nb")(SeriesAccessor)
