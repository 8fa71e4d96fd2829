import type { Milestone } from '#hosting/milestones/milestones.ts'
import { type Html, html } from '#web/html.ts'

/** How much of a milestone is closed. */
export function progressBar({ open_issues, closed_issues }: Pick<Milestone, 'open_issues' | 'closed_issues'>): Html {
  const done = percentDone({ open_issues, closed_issues })
  return html`<progress class="milestone-progress" max="100" value="${done}" aria-label="${done}% complete">${done}%</progress>`
}

export const percentDone = ({ open_issues, closed_issues }: Pick<Milestone, 'open_issues' | 'closed_issues'>) =>
  Math.floor((100 * closed_issues) / Math.max(open_issues + closed_issues, 1))
