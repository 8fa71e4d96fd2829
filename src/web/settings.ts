import { copyButton } from './components/copy.ts'
import { icon } from './components/icon.ts'
import { banner } from './components/toast.ts'
import { type Html, html } from './html.ts'
import { form, type Outcome, type Visit } from './page.ts'

type Page = [path: string, title: string, icon: string]

const menu: [heading: string, pages: Page[]][] = [
  [
    'Account',
    [
      ['/settings/profile', 'Profile', 'person'],
      ['/settings/emails', 'E-mail addresses', 'mail'],
      ['/settings/appearance', 'Appearance', 'paintbrush'],
      ['/settings/notifications', 'Notifications', 'bell'],
      ['/settings/organizations', 'Organizations', 'organization'],
      ['/settings/export', 'Export your data', 'download'],
    ],
  ],
  [
    'Access',
    [
      ['/settings/security', 'Password and two-factor', 'shield-lock'],
      ['/settings/sessions', 'Sessions', 'broadcast'],
      ['/settings/keys', 'SSH keys', 'key'],
      ['/settings/feeds', 'Feed keys', 'rss'],
    ],
  ],
  [
    'Applications',
    [
      ['/settings/applications', 'Authorized applications', 'verified'],
      ['/settings/installations', 'Installed apps', 'plug'],
    ],
  ],
  [
    'For developers',
    [
      ['/settings/tokens', 'Personal tokens', 'key-asterisk'],
      ['/settings/tokens/fine-grained', 'Fine-grained tokens', 'key-asterisk'],
      ['/settings/developers', 'My OAuth applications', 'code'],
      ['/settings/apps', 'My apps', 'apps'],
    ],
  ],
]

export const settingsLinks = menu.flatMap(([, pages]) => pages)

/** A settings page with the settings menu. */
export function settingsPage(path: string, title: string, body: Html, status = 200): Outcome {
  const link = ([address, name, symbol]: Page) =>
    html`<a class="side-link" href="${address}"${address === path && html` aria-current="page"`}>${icon(symbol)} ${name}</a>`
  const groups = menu.map(([heading, pages]) => html`<h2>${heading}</h2>${pages.map(link)}`)
  return {
    title,
    status,
    body: html`<div class="settings"><nav aria-label="Settings">${groups}</nav><main><h1>${title}</h1>${body}</main></div>`,
  }
}

export function note(text: string | undefined): Html | undefined {
  return banner(text)
}

/** Asks before an action that cannot be undone, or that has consequences. */
export function askFirst(visit: Pick<Visit, 'csrf'>, question: Question): Outcome {
  const { path, title, body, action, fields, button, kind = 'danger', keep = path, keep_text = 'Keep it' } = question
  const buttons = html`${fields}<p class="buttons"><button class="${kind}">${button}</button> <a class="button" href="${keep}">${keep_text}</a></p>`
  return settingsPage(path, title, html`${body}${form(visit, action, buttons)}`)
}

interface Question {
  /** The settings page that it belongs to. */
  path: string
  title: string
  /** Describes the action and its consequences. */
  body: Html
  action: string
  fields?: Html
  button: string
  kind?: 'danger' | 'primary'
  /** The page to return to without the action; `path` by default. */
  keep?: string
  keep_text?: string
}

export function shownOnce(label: string, secret: string): Html {
  return html`<section class="banner success" aria-label="${label}">${icon('key')}<div class="shown-once"><p class="title-line"><strong>${label}</strong>: copy this now, it is not shown again. ${copyButton(secret, `Copy: ${label}`)}</p>
<pre tabindex="0" class="secret">${secret}</pre></div></section>`
}

/** A row of a box in the settings: an icon, what it is about, and what can be done with it. */
export function settingRow(symbol: string, about: Html, action?: Html): Html {
  return html`<div class="setting-row">${icon(symbol, { size: 24 })}<div>${about}</div>${action}</div>`
}
