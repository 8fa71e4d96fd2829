import { loadComment } from '#hosting/issues/comments/comments.ts'
import type { Visit } from '#web/page.ts'
import type { Conversation } from './conversation.ts'

/** How much of a text is quoted. */
const longestQuote = 4000

/** The text that `?quote=` names, as a quotation for the comment box. */
export async function quotedText(visit: Visit, { repo, issue }: Conversation): Promise<string> {
  const post = postIn(visit.query.get('quote'))
  if (!post) return ''
  const body = post.kind === 'issue' ? issue.body : await commentBody(visit, { repo, issue }, post.id)
  if (!body) return ''
  const cut = body.length > longestQuote ? `${body.slice(0, longestQuote)}…` : body
  return `${cut.replaceAll(/^/gm, '> ')}\n\n`
}

async function commentBody({ db }: Visit, { repo, issue }: Pick<Conversation, 'repo' | 'issue'>, id: number) {
  const comment = await loadComment(db, repo, id).catch(() => undefined)
  return comment?.issue_id === issue.id ? comment.body : null
}

/** A post by its anchor: `issue-12`, `issuecomment-34`. */
export function postIn(anchor: string | null): { kind: 'issue' | 'issuecomment'; id: number } | undefined {
  const [, kind, id] = /^(issue|issuecomment)-(\d{1,15})$/.exec(anchor ?? '') ?? []
  return kind === undefined ? undefined : { kind: kind as 'issue' | 'issuecomment', id: Number(id) }
}
