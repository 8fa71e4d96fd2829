import { type Html, html } from './html.ts'
import { form, type Outcome, type Visit } from './page.ts'

const places: [path: string, title: string][] = [
  ['/settings/profile', 'Profile'],
  ['/settings/security', 'Password and two-factor'],
  ['/settings/sessions', 'Sessions'],
  ['/settings/keys', 'SSH keys'],
  ['/settings/applications', 'Authorized applications'],
  ['/settings/tokens', 'Personal tokens'],
  ['/settings/tokens/fine-grained', 'Fine-grained tokens'],
  ['/settings/feeds', 'Feed keys'],
  ['/settings/developers', 'My OAuth applications'],
]

/** A page among the settings, with the way to the others beside it. */
export function settingsPage(place: string, title: string, body: Html, status = 200): Outcome {
  const links = places.map(
    ([path, name]) => html`<a class="side-link" href="${path}"${path === place && html` aria-current="page"`}>${name}</a>`,
  )
  return {
    title,
    status,
    body: html`<div class="settings"><nav aria-label="Settings">${links}</nav><main><h1>${title}</h1>${body}</main></div>`,
  }
}

/** What has just been done. */
export function note(text: string | undefined): Html | undefined {
  return text === undefined ? undefined : html`<p class="note" role="status">${text}</p>`
}

/** Asks before an action that cannot be undone. */
export function askFirst(visit: Pick<Visit, 'csrf'>, { place, title, body, action, fields, button, keep }: Question): Outcome {
  const buttons = html`${fields}<p class="buttons"><button class="danger">${button}</button> <a class="button" href="${keep ?? place}">Keep it</a></p>`
  return settingsPage(place, title, html`${body}${form(visit, action, buttons)}`)
}

interface Question {
  /** The settings it is among. */
  place: string
  title: string
  /** What it is, and what follows. */
  body: Html
  action: string
  fields?: Html
  button: string
  /** Where it is kept; by default the list of all. */
  keep?: string
}

/** A secret that nobody sees again. */
export function shownOnce(label: string, secret: string): Html {
  return html`<section class="note" aria-label="${label}"><p><strong>${label}</strong>: copy this now, it is not shown again.</p>
<pre tabindex="0" class="secret">${secret}</pre></section>`
}

export function moment(at: Date): Html {
  const text = at.toISOString()
  return html`<time datetime="${text}">${text.slice(0, 16).replace('T', ' ')} UTC</time>`
}
