import { createComment } from '#hosting/issues/comments/update.ts'
import { updateIssue } from '#hosting/issues/update.ts'
import { written } from '#hosting/mentions/views/render-texts.ts'
import { viewerOf } from '#hosting/repositories/views/repository-page.ts'
import { checkWritable } from '#identity/access.ts'
import { invalid } from '#platform/errors.ts'
import { attempt } from '#web/fields.ts'
import type { Outcome, SignedIn } from '#web/page.ts'
import { addressOf, type Conversation } from './conversation.ts'
import { conversationPage } from './conversation-page.ts'

/** Comments, closes or reopens, or both at once. A refused form is shown again with its text. */
export async function reply(visit: SignedIn, conversation: Conversation): Promise<Outcome> {
  const { repo, issue } = conversation
  const body = visit.form.get('body') ?? ''
  if (visit.form.has('preview')) return conversationPage(visit, conversation, { body, preview: true })
  return attempt(
    async () => {
      const text = written(visit.form, 'body')
      const change = stateIn(visit.form)
      if (!text && !change) throw invalid({ resource: 'Issue', code: 'custom', message: 'write a comment first' })
      const said = await visit.db.transaction(async (db) => {
        checkWritable(repo)
        const comment = text ? await createComment(db, viewerOf(visit), repo, visit.visitor, issue.number, text) : undefined
        if (change) await updateIssue(db, viewerOf(visit), repo, visit.visitor, issue.number, change)
        return comment
      })
      return { to: said ? `${addressOf(conversation)}#issuecomment-${said.id}` : addressOf(conversation) }
    },
    (problem) => conversationPage(visit, conversation, { body, problem }),
  )
}

const reasons = ['completed', 'not_planned', 'duplicate'] as const

/** `open`, or `closed` with or without a reason after a space. */
function stateIn(form: URLSearchParams) {
  const [state, reason] = (form.get('state') ?? '').split(' ')
  if (state === 'open') return { state } as const
  if (state !== 'closed') return undefined
  const state_reason = reasons.find((one) => one === reason)
  return { state, ...(state_reason && { state_reason }) } as const
}
