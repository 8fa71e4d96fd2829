-- The queries of timelines look up what an event refers to themselves: calling a function for each event took half of their time.
drop function references_visible(text, jsonb, bigint, bigint);
