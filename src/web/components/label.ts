import { type Html, html } from '../html.ts'
import { icon } from './icon.ts'

interface IssueLabel {
  name: string
  color: string
  description?: string | null
}

/** A label of an issue, as a link if it has an address. The colour is an SVG attribute, because our content security policy forbids `style`. */
export function issueLabel({ name, color, description }: IssueLabel, href?: string): Html {
  const inside = html`<svg width="10" height="10" aria-hidden="true"><circle cx="5" cy="5" r="4.5" fill="#${color}" stroke="currentColor" stroke-opacity="0.3"/></svg><span>${name}</span>`
  return href === undefined
    ? html`<span class="label" title="${description}">${inside}</span>`
    : html`<a class="label" href="${href}" title="${description}">${inside}</a>`
}

type Tone = 'default' | 'accent' | 'success' | 'attention' | 'danger' | 'done'

/** A word about what it stands beside, as Private or Latest. */
export function badge(text: string, tone: Tone = 'default'): Html {
  return html`<span class="badge${tone !== 'default' && ` ${tone}`}">${text}</span>`
}

const states = {
  open: { tone: 'open', issue: 'issue-opened', pull: 'git-pull-request', text: 'Open' },
  closed: { tone: 'closed', issue: 'issue-closed', pull: 'git-pull-request-closed', text: 'Closed' },
  not_planned: { tone: 'draft', issue: 'skip', pull: 'git-pull-request-closed', text: 'Closed' },
  merged: { tone: 'merged', issue: 'git-merge', pull: 'git-merge', text: 'Merged' },
  draft: { tone: 'draft', issue: 'issue-draft', pull: 'git-pull-request-draft', text: 'Draft' },
} as const

export type SubjectState = keyof typeof states

/** The state of an issue or a pull request, as a filled label. */
export function stateLabel(state: SubjectState, kind: 'issue' | 'pull', text: string = states[state].text): Html {
  return html`<span class="state ${states[state].tone}">${icon(states[state][kind])} ${text}</span>`
}

/** The same as a coloured icon, for lists. */
export function stateIcon(state: SubjectState, kind: 'issue' | 'pull'): Html {
  return html`<span class="state-icon ${states[state].tone}">${icon(states[state][kind], { label: states[state].text })}</span>`
}

export function counter(count: number | string): Html {
  return html`<span class="counter">${count}</span>`
}
