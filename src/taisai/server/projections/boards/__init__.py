"""The former names of the house's feeds."""

from taisai.server.projections.house_feeds import HouseFeeds as Boards

__all__ = ["Boards"]
