import { listAssignable } from '#hosting/issues/assignees.ts'
import type { Issue } from '#hosting/issues/issues.ts'
import { listLabels } from '#hosting/labels/labels.ts'
import { listMilestones } from '#hosting/milestones/milestones.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import type { Queryable } from '#platform/database.ts'
import { avatar } from '#web/components/avatar.ts'
import { button } from '#web/components/button.ts'
import { icon } from '#web/components/icon.ts'
import { issueLabel } from '#web/components/label.ts'
import { menu } from '#web/components/menu.ts'
import { type Html, html } from '#web/html.ts'
import { form, type Visit } from '#web/page.ts'

/** How many labels, people and milestones a menu lists. Others can be named. */
const most = 100

export interface Choices {
  choices: { value: string; shown: Html }[]
  /** There are choices that are not listed: they can be typed. */
  more: boolean
}

/** What an issue already has comes first, because it may not be among the first ones, or no longer be offered. */
const withOwn = <R extends { id: number }>(own: R[], all: R[]) => [
  ...own,
  ...all.filter(({ id }) => !own.some((one) => one.id === id)),
]

type Chosen = Pick<Issue, 'labels' | 'assignees' | 'milestone'>

/** The labels, people and open milestones of a repository, for the menus of an issue. */
export async function listChoices(
  db: Queryable,
  repo: Repository,
  own: Chosen = { labels: [], assignees: [], milestone: null },
): Promise<{ labels: Choices; people: Choices; milestones: Choices }> {
  const slice = { limit: most, offset: 0 }
  const [labels, people, milestones] = await Promise.all([
    listLabels(db, repo, slice),
    listAssignable(db, repo, slice),
    listMilestones(db, repo, { state: 'open', sort: 'due_on', direction: 'asc' }, slice),
  ])
  const numbered = withOwn(own.milestone ? [own.milestone] : [], milestones.rows)
  return {
    labels: {
      choices: withOwn(own.labels, labels.rows).map((label) => ({ value: label.name, shown: issueLabel(label) })),
      more: labels.total > most,
    },
    people: {
      choices: withOwn(own.assignees, people.rows).map((one) => ({
        value: one.login,
        shown: html`${avatar(one, 20)} <span>${one.login}</span>`,
      })),
      more: people.total > most,
    },
    milestones: {
      choices: [
        { value: '', shown: html`No milestone` },
        ...numbered.map(({ number, title }) => ({
          value: String(number),
          shown: html`${icon('milestone')} <span>${title}</span>`,
        })),
      ],
      more: false,
    },
  }
}

interface Picker extends Choices {
  title: string
  /** The form field. */
  name: string
  chosen: string[]
  /** One choice only. */
  single?: boolean
  footer?: Html
}

/**
 * A menu of boxes to check, in a form of its own. What was chosen when the page was made is sent as `had`, so that the form changes only what
 * the visitor changed.
 */
export function picker(visit: Visit, action: string, options: Picker): Html {
  const had = options.single ? [] : options.chosen.map((value) => html`<input type="hidden" name="had" value="${value}">`)
  const inputs = html`${had}${pickerRows(options)}${button('Apply', { kind: 'primary', size: 'small' })}`
  const made = form(visit, action, inputs, { class: 'picker-form', replace: true })
  return menu(
    icon('gear'),
    [{ markup: html`${made}${options.footer && html`<p class="picker-footer">${options.footer}</p>`}` }],
    {
      label: `Change: ${options.title}`,
      kind: 'picker',
      key: options.name,
    },
  )
}

/** The boxes alone, for a form that has others. */
export function pickerRows({ title, name, choices, chosen, single = false, more }: Omit<Picker, 'footer'>): Html {
  const known = new Set(chosen)
  const rows = choices.map(
    ({ value, shown }) =>
      html`<label class="picker-row"><input type="${single ? 'radio' : 'checkbox'}" name="${name}" value="${value}"${known.has(value) && html` checked`}> ${shown}</label>`,
  )
  return html`<fieldset><legend class="unseen">${title}</legend>
${choices.length > 7 && html`<input type="search" class="picker-filter" placeholder="Filter" aria-label="Filter: ${title}" autocomplete="off">`}
<div class="picker-rows">${rows.length ? rows : html`<p class="muted">There is nothing to choose from.</p>`}</div>
${more && html`<input name="${name}" placeholder="Another name" aria-label="Another: ${title}" autocomplete="off" maxlength="100">`}</fieldset>`
}
