import { missing } from '#platform/errors.ts'
import { cardPage } from '#web/card-page.ts'
import { banner } from '#web/components/toast.ts'
import { field } from '#web/fields.ts'
import { type Html, html } from '#web/html.ts'
import { form, type Outcome, type PageRoute, type SignedIn, showOwn, type Visit } from '#web/page.ts'
import { readState } from '#web/page-states.ts'
import { pageOf } from '#web/return-to.ts'
import { type Draft, draftOf, resumePath, sealDraft } from '../drafts.ts'
import { loginPage } from '../pages.ts'

export const pages: PageRoute[] = [
  showOwn(`${resumePath}/:key`, async (visit) => {
    const { db, belfry, visitor, params } = visit
    const draft = await readState<Draft>(db, belfry.vault, visitor, 'draft', params.key ?? '')
    if (!draft) throw missing()
    return resumePage(visit, draft)
  }),
]

/**
 * Handles a form whose session has ended: the sign-in page is shown and carries the fields. They are never submitted
 * automatically: the user sees the form again, and submits it with a CSRF token of the new session.
 */
export function lapsed(visit: Visit): Outcome {
  const { request, belfry } = visit
  const back = pageOf(request)
  const draft = draftOf(request.originalUrl, visit.form, back)
  if (isSignedIn(visit)) return draft && draft !== 'too long' ? resumePage(visit, draft, 403) : { to: back }
  const asked = { login: '', return_to: back, allow_signup: true }
  if (draft === undefined) return { to: `/login?return_to=${encodeURIComponent(back)}` }
  if (draft === 'too long') return loginPage(visit, asked, { status: 403, message: tooLong })
  const note = 'You were signed out. Sign in to go on: what you wrote is kept, and you will see it again before it is sent.'
  return { ...loginPage(visit, { ...asked, draft: sealDraft(belfry.vault, visit.db.now, draft) }, undefined, note), status: 403 }
}

const tooLong =
  'You were signed out, and what you wrote is too long to be kept here. Go back in your browser and copy it before you sign in.'

const isSignedIn = (visit: Visit): visit is SignedIn => visit.visitor !== null

function resumePage(visit: SignedIn, { action, fields, omitted, back }: Draft, status = 200): Outcome {
  const written = fields.map(([name, value], index) => (isText(name, value) ? editable(name, value, index) : kept(name, value)))
  const again = omitted.map((name) =>
    field({
      label: `${labelOf(name)}, again`,
      name,
      type: 'password',
      autocomplete: 'off',
      hint: 'Secrets are not kept: type it again.',
    }),
  )
  const body = html`${written}${again}<p class="buttons"><button class="primary">Send it now</button> <a class="button" href="${back}">Do not send it</a></p>`
  return {
    title: 'What you wrote',
    status,
    body: cardPage(
      'What you wrote',
      html`${banner(html`Your session had ended, so nothing was sent. Look through it, and send it as <strong>${visit.visitor.login}</strong>.`, 'attention')}
<p class="muted">It goes to <code>${action}</code></p>${form(visit, action, body, { class: 'form card' })}`,
    ),
  }
}

/** Whether a field was typed rather than chosen. */
const isText = (name: string, value: string) =>
  /^(title|body|name|note|description|bio)$/.test(name) || /[\s\n]/.test(value.trim())

function editable(name: string, value: string, index: number): Html {
  const id = `${name}-${index}`
  if (name !== 'body' && !value.includes('\n')) return field({ label: labelOf(name), name, id, value, longest: 65_536 })
  return html`<label for="${id}">${labelOf(name)}</label><textarea id="${id}" name="${name}" rows="10">
${value}</textarea>`
}

function kept(name: string, value: string): Html {
  const shown = value !== '' && html`<p class="hint"><strong>${labelOf(name)}</strong>: ${value}</p>`
  return html`<input type="hidden" name="${name}" value="${value}">${shown}`
}

function labelOf(name: string) {
  const words = name === 'body' ? 'text' : name.replaceAll(/[_:]/g, ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
