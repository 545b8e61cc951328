"""Projections: from the events of tables and the House to the views and feeds of clients.

`HouseFeeds` makes the frames of every feed. The other modules make the views from the state of the game.
"""
