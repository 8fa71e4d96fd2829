import { createComment } from '#hosting/issues/comments/update.ts'
import { updateIssue } from '#hosting/issues/update.ts'
import { written } from '#hosting/mentions/views/render-texts.ts'
import { checkWritable } from '#identity/access.ts'
import { invalid } from '#platform/errors.ts'
import { attempt } from '#web/fields.ts'
import type { Outcome, SignedIn } from '#web/page.ts'
import { addressOf, type Conversation, conversationPage } from './conversation.ts'

/** Comments, closes or reopens, or both at once. A refused form is shown again with its text. */
export function reply(visit: SignedIn, conversation: Conversation): Promise<Outcome> {
  const { repo, issue } = conversation
  return attempt(
    async () => {
      const body = written(visit.form, 'body')
      const state = stateIn(visit.form)
      if (!body && !state) throw invalid({ resource: 'Issue', code: 'custom', message: 'write a comment first' })
      const said = await visit.db.transaction(async (db) => {
        checkWritable(repo)
        const comment = body ? await createComment(db, repo, visit.visitor, issue.number, body) : undefined
        if (state) await updateIssue(db, repo, visit.visitor, issue.number, { state })
        return comment
      })
      return { to: said ? `${addressOf(conversation)}#issuecomment-${said.id}` : addressOf(conversation) }
    },
    (problem) => conversationPage(visit, conversation, { body: visit.form.get('body') ?? '', problem }),
  )
}

function stateIn(form: URLSearchParams) {
  const state = form.get('state')
  return state === 'open' || state === 'closed' ? state : undefined
}
