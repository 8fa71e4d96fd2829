-- The export of an account reads what a user wrote in pages, in the order of ids: without the id in the index, each page sorts everything.

create index comments_author_id on comments (author_id, id);
create index commit_comments_author_id on commit_comments (author_id, id);
create index reviews_author_id on reviews (author_id, id);
create index review_comments_author_id on review_comments (author_id, id);

drop index comments_author;
drop index commit_comments_author;
drop index reviews_author;
drop index review_comments_author;
