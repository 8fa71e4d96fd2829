import { listAssignable } from '#hosting/issues/assignees.ts'
import { listRecentAuthors } from '#hosting/issues/participants.ts'
import { listLabels } from '#hosting/labels/labels.ts'
import { listMilestones } from '#hosting/milestones/milestones.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { avatar } from '#web/components/avatar.ts'
import { icon } from '#web/components/icon.ts'
import { issueLabel } from '#web/components/label.ts'
import { type MenuItem, menu } from '#web/components/menu.ts'
import { type Html, html } from '#web/html.ts'
import type { Visit } from '#web/page.ts'
import { addressQuery, valuesOf, withToggled, withValue } from './list-query.ts'

/** How many people, labels and milestones a menu lists. Others can be typed into the search box. */
const most = 40

const sorts: [value: string, text: string][] = [
  ['created-desc', 'Newest'],
  ['created-asc', 'Oldest'],
  ['updated-desc', 'Recently updated'],
  ['updated-asc', 'Least recently updated'],
  ['comments-desc', 'Most commented'],
  ['comments-asc', 'Least commented'],
  ['reactions-desc', 'Most reactions'],
]

/** Menus that write the query: by author, label, milestone and assignee, and the order. */
export async function listMenus(visit: Visit, repo: Repository, place: string, q: string): Promise<Html> {
  const slice = { limit: most, offset: 0 }
  const [authors, labels, milestones, people] = await Promise.all([
    listRecentAuthors(visit.db, repo, most),
    listLabels(visit.db, repo, slice),
    listMilestones(visit.db, repo, { state: 'open', sort: 'due_on', direction: 'asc' }, slice),
    listAssignable(visit.db, repo, slice),
  ])
  const item = (text: Html, name: string, value: string, next: string): MenuItem => ({
    text,
    href: `${place}?${addressQuery(next)}`,
    icon: isChosen(q, name, value) ? 'check' : '',
    current: isChosen(q, name, value),
  })
  const toggled = (text: Html, name: string, value: string) => item(text, name, value, withToggled(q, name, value))
  const single = (text: Html, name: string, value: string) =>
    item(text, name, value, withValue(withoutNo(q, name), name, isChosen(q, name, value) ? null : value))
  const without = (name: string, text: string): MenuItem[] => [
    item(html`${text}`, 'no', name, withToggled(withValue(q, name, null), 'no', name)),
    'divider',
  ]
  const who = (one: { id: number; login: string }) => html`${avatar(one, 20)} ${one.login}`
  return html`<div class="list-menus">
${titled(
  'Author',
  authors.map((one) => single(who(one), 'author', one.login)),
)}
${titled('Label', [...without('label', 'No label'), ...labels.rows.map((label) => toggled(issueLabel(label), 'label', label.name))])}
${titled('Milestone', [...without('milestone', 'No milestone'), ...milestones.rows.map(({ title }) => single(html`${title}`, 'milestone', title))])}
${titled('Assignee', [...without('assignee', 'No one assigned'), ...people.rows.map((one) => single(who(one), 'assignee', one.login))])}
${titled(
  'Sort',
  sorts.map(([value, text]) => single(html`${text}`, 'sort', value)),
)}</div>`
}

const withoutNo = (q: string, name: string) => (isChosen(q, 'no', name) ? withToggled(q, 'no', name) : q)

const isChosen = (q: string, name: string, value: string) =>
  valuesOf(q, name).some((one) => one.toLowerCase() === value.toLowerCase())

const titled = (title: string, items: MenuItem[]) =>
  menu(html`${title} ${icon('triangle-down')}`, items.length ? items : [{ markup: html`<p class="muted">None yet</p>` }], {
    kind: 'list-menu',
  })
