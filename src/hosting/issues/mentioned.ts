import { sql } from '#platform/database.ts'

/** A condition for issues `i` that mention a user, in their text or in a comment. See `search_document`. */
export function mentioning(login: string) {
  const mention = sql`array_to_tsvector(array['@' || lower(${login})])::text::tsquery`
  return sql`i.id in (select issue_id from issue_documents where document @@ ${mention}
    union all select issue_id from comments where search_document(null, body) @@ ${mention})`
}
