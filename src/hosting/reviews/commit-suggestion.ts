import type { Storage } from '#git/storage.ts'
import { readContent, writeFile } from '#hosting/contents/contents.ts'
import { mayPush } from '#hosting/issues/rights.ts'
import type { Pull } from '#hosting/pulls/pulls.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { checkWritable } from '#identity/access.ts'
import type { Account } from '#identity/accounts.ts'
import type { Database } from '#platform/database.ts'
import { forbidden, Refusal } from '#platform/errors.ts'
import type { ReviewComment } from './comments/comments.ts'
import { readPatch } from './diff-position.ts'

/** The lines that a comment is about, as they are in the head. */
export function linesOf({ diff_hunk, line, start_line, side }: ReviewComment): string[] {
  if (line === null || side !== 'RIGHT') return []
  return readPatch(diff_hunk).flatMap(({ text, RIGHT }) =>
    RIGHT !== undefined && RIGHT >= (start_line ?? line) && RIGHT <= line ? [text.slice(1)] : [],
  )
}

const refused = (message: string) => new Refusal('invalid', message)

/** Replaces the lines of a comment in the head branch, if they are still as they were, by a commit of the visitor. */
export async function commitSuggestion(
  db: Database,
  storage: Storage,
  { repo, pull }: { repo: Repository; pull: Pull },
  user: Account,
  comment: ReviewComment,
  suggestion: string,
) {
  const head = pull.head_repo_id === repo.id ? repo : pull.head_repo
  if (!head || !mayPush(head)) throw forbidden('Must have push access to the head branch.')
  checkWritable(head)
  if (pull.state === 'closed') throw refused('The pull request is closed.')
  const content = await readContent(storage, head, comment.path, `refs/heads/${pull.head_ref}`)
  if (content.kind !== 'file' || content.link !== undefined || !content.bytes) throw refused('The file is too large, or a link.')
  const text = content.bytes.toString()
  if (!Buffer.from(text).equals(content.bytes)) throw refused('The file is not a text in UTF-8.')
  const lines = text.split('\n')
  const about = linesOf(comment)
  const start = (comment.start_line ?? comment.line ?? 1) - 1
  if (!about.length || about.some((line, index) => lines[start + index] !== line))
    throw refused('These lines have changed since the suggestion was made.')
  const added = suggestion.split('\n').slice(0, -1)
  const changed = lines.toSpliced(start, about.length, ...added).join('\n')
  await writeFile(db, storage, head, user, comment.path, {
    message: `Apply a suggestion to ${comment.path}`,
    content: Buffer.from(changed).toString('base64'),
    sha: content.entry.sha,
    branch: pull.head_ref,
  })
}
