import { button } from '#web/components/button.ts'
import { badge } from '#web/components/label.ts'
import { type Html, html } from '#web/html.ts'
import { form, type SignedIn } from '#web/page.ts'

/** Marks of an account in lists and on its page. */
export const marks = ({ site_admin, suspended_at }: { site_admin: boolean; suspended_at: Date | null }): Html =>
  html`${site_admin && badge('site admin', 'accent')}${suspended_at && badge('suspended', 'danger')}`

/** What a site admin can do to an account, one row for each. */
export const controls = (...rows: Html[]): Html => html`<div class="danger-zone">${rows}</div>`

export const controlRow = (title: string, text: string, control: Html): Html =>
  html`<div><div><strong>${title}</strong><p class="muted">${text}</p></div>${control}</div>`

/** A form with a button only. */
export const actButton = (visit: SignedIn, path: string, act: string, text: string, danger = false): Html =>
  form(visit, path, button(text, { name: 'act', value: act, ...(danger && { kind: 'danger' }) }), { class: 'inline' })

/** The rows that people and organizations have: a new login, and a deletion that is confirmed by typing the login. */
export function renameAndDelete(visit: SignedIn, path: string, login: string, owned: string): Html {
  const typedAct = (name: string, label: string, act: string, text: string, placeholder: string) =>
    form(
      visit,
      path,
      html`<input name="${name}" aria-label="${label}" placeholder="${placeholder}" autocomplete="off" required>${button(text, { kind: 'danger', name: 'act', value: act })}`,
      { class: 'buttons' },
    )
  return html`${controlRow('Rename', 'Addresses of repositories redirect.', typedAct('new_login', 'New login', 'rename', 'Rename', 'New login'))}
${controlRow('Delete', `Deletes ${owned}. Type ${login} to confirm.`, typedAct('confirm', `Type ${login} to confirm`, 'delete', 'Delete', login))}`
}
