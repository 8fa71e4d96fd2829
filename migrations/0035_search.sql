-- What full-text search finds of a text: its words, and each user it mentions as `@login`.
create function search_document(title text, body text) returns tsvector language plpgsql immutable parallel safe as $$
begin
  return setweight(to_tsvector('english', coalesce(title, '')), 'A') || setweight(to_tsvector('english', coalesce(body, '')), 'B')
    || array_to_tsvector(array(select distinct '@' || lower(mention[1])
      from regexp_matches(coalesce(body, ''), '(?:^|[^[:alnum:]_/@`.])@([[:alnum:]](?:[[:alnum:]-]{0,37}[[:alnum:]])?)(?![[:alnum:]_])', 'g') mention));
end
$$;

-- A table of its own, because every comment changes the row of its issue, and an index there would then be written anew.
create table issue_documents (
  issue_id bigint primary key references issues on delete cascade,
  -- Of the issue: who may see a match is decided before the issue is read.
  repo_id bigint not null,
  document tsvector not null
);
insert into issue_documents (issue_id, repo_id, document) select id, repo_id, search_document(title, body) from issues;
create index issue_documents_words on issue_documents using gin (document);

create function write_issue_document() returns trigger language plpgsql as $$
begin
  insert into issue_documents (issue_id, repo_id, document) values (new.id, new.repo_id, search_document(new.title, new.body))
  on conflict (issue_id) do update set document = excluded.document;
  return null;
end
$$;
create trigger write_document after insert on issues for each row execute function write_issue_document();
create trigger rewrite_document after update of title, body on issues for each row
  when ((new.title, new.body) is distinct from (old.title, old.body)) execute function write_issue_document();

create index comments_words on comments using gin (search_document(null, body));
create index labels_by_name on labels (lower(name));

-- Names are found by their parts and beginnings, so their words are not stemmed.
create function repository_document(name text, description text, topics text[]) returns tsvector language plpgsql immutable parallel safe as $$
begin
  return setweight(to_tsvector('simple', name || ' ' || regexp_replace(name, '[^[:alnum:]]+', ' ', 'g')), 'A')
    || setweight(to_tsvector('simple', array_to_string(topics, ' ')), 'B')
    || setweight(to_tsvector('simple', coalesce(description, '')), 'C');
end
$$;
create table repository_documents (
  repo_id bigint primary key references repositories on delete cascade,
  document tsvector not null
);
insert into repository_documents (repo_id, document) select id, repository_document(name, description, topics) from repositories;
create index repository_documents_words on repository_documents using gin (document);

create function write_repository_document() returns trigger language plpgsql as $$
begin
  insert into repository_documents (repo_id, document) values (new.id, repository_document(new.name, new.description, new.topics))
  on conflict (repo_id) do update set document = excluded.document;
  return null;
end
$$;
create trigger write_document after insert on repositories for each row execute function write_repository_document();
create trigger rewrite_document after update of name, description, topics on repositories for each row
  when ((new.name, new.description, new.topics) is distinct from (old.name, old.description, old.topics))
  execute function write_repository_document();
create index repositories_topics on repositories using gin (topics) where topics <> '{}';

create function account_document(login text, name text) returns tsvector language plpgsql immutable parallel safe as $$
begin
  return setweight(to_tsvector('simple', login || ' ' || replace(login, '-', ' ')), 'A') || setweight(to_tsvector('simple', coalesce(name, '')), 'B');
end
$$;
create index accounts_words on accounts using gin (account_document(login, name));
