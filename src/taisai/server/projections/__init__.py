"""Projections: from the events of tables and House to what everyone is shown.

`HouseFeeds` makes the frames of every feed; the other modules make the views, from the game alone.
"""
