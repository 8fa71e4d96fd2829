-- What changed since a snapshot, whatever the topic: one read of it serves all open streams of a node.
create index topic_changes_xid on topic_changes (xid);
