-- Whether the viewer may see the records that an event refers to. Replaces mention_shown, which 0003, 0004 and 0005 defined in turn.
drop function mention_shown(text, jsonb, bigint, bigint);

create function references_visible(event_type text, payload jsonb, viewer bigint, token bigint) returns boolean language plpgsql stable as $$
begin
  return case event_type
    when 'ForkEvent' then exists (
      select from repositories f where f.id = (payload->>'forkee_id')::bigint
        and (not f.private or (access_by_name(viewer, f) > 0 and (token is null or token_reaches(token, f)))))
    when 'MemberEvent' then exists (select from accounts where id = (payload->>'member_id')::bigint)
    when 'ReleaseEvent' then exists (select from releases where id = (payload->>'release_id')::bigint and not draft)
    when 'IssueCommentEvent' then exists (select from comments where id = (payload->>'comment_id')::bigint)
    when 'PullRequestReviewEvent' then exists (select from reviews where id = (payload->>'review_id')::bigint)
    when 'PullRequestReviewCommentEvent' then exists (select from review_comments where id = (payload->>'review_comment_id')::bigint)
    when 'CommitCommentEvent' then exists (select from commit_comments where id = (payload->>'commit_comment_id')::bigint)
    else true end;
end
$$;
