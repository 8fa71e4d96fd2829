import { updateIssue } from '#hosting/issues/changes.ts'
import { createComment } from '#hosting/issues/comments/changes.ts'
import { checkMayTalkOfCode } from '#hosting/issues/rights.ts'
import { written } from '#hosting/mentions/views/writing.ts'
import { sightOf } from '#hosting/repositories/views/place.ts'
import { invalid } from '#platform/errors.ts'
import { attempt } from '#web/fields.ts'
import type { Outcome, SignedIn } from '#web/page.ts'
import { addressOf, conversationPage, type Talk } from './conversation.ts'

/** Comments, closes or reopens, or both at once. A refused form is shown again with its text. */
export function reply(visit: SignedIn, talk: Talk): Promise<Outcome> {
  const { repo, issue } = talk
  return attempt(
    async () => {
      const body = written(visit.form, 'body')
      const state = stateIn(visit.form)
      if (!body && !state) throw invalid({ resource: 'Issue', code: 'custom', message: 'write a comment first' })
      const said = await visit.db.transaction(async (db) => {
        await checkMayTalkOfCode(db, sightOf(visit), repo)
        const comment = body ? await createComment(db, repo, visit.visitor, issue.number, body) : undefined
        if (state) await updateIssue(db, repo, visit.visitor, issue.number, { state })
        return comment
      })
      return { to: said ? `${addressOf(talk)}#issuecomment-${said.id}` : addressOf(talk) }
    },
    (problem) => conversationPage(visit, talk, { body: visit.form.get('body') ?? '', problem }),
  )
}

function stateIn(form: URLSearchParams) {
  const state = form.get('state')
  return state === 'open' || state === 'closed' ? state : undefined
}
