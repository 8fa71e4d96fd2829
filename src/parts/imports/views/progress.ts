import type { Import } from '#parts/imports/import-row.ts'
import { amount } from '#parts/webhooks/views/outcome-marks.ts'
import { type Html, html } from '#web/html.ts'
import { kindNames } from './form.ts'

const steps = [
  ['detecting', 'Detect', 'Detecting the kind of the source'],
  ['importing', 'Import', 'Fetching the history'],
  ['mapping', 'Map', 'Writing branches, tags and authors'],
  ['pushing', 'Publish', 'Publishing to the repository'],
] as const

export const stepName = (name: string | null) => steps.find(([step]) => step === name)?.[1] ?? 'the first step'

/** An import that waits for a choice makes no progress. */
export const isRunning = ({ status, active }: Import) => active && steps.some(([step]) => step === status)

/** The state is also in the text, not only in the colour. */
export function stepList(imported: Import): Html {
  const { status, failed_step } = imported
  const current = status === 'complete' ? steps.length : steps.findIndex(([step]) => step === stepOf(status, failed_step))
  const halted = status === 'error' ? 'failed' : !isRunning(imported) && 'waits for you'
  const items = steps.map(([, name], index) => {
    const how = index < current ? 'done' : index > current ? 'to come' : halted || 'under way'
    return html`<li class="${how.replaceAll(' ', '-')}"${index === current && html` aria-current="step"`}>${name} <span class="how">${how}</span></li>`
  })
  return html`<ol class="import-steps" id="steps" aria-label="Steps">${items}</ol>`
}

function stepOf(status: Import['status'], failed_step: string | null): string {
  if (status === 'error') return failed_step ?? 'detecting'
  if (status === 'auth_failed') return 'importing'
  return status.startsWith('detection_') ? 'detecting' : status
}

/** Detection and mapping have no percentage. */
export function progressBar(imported: Import, now: Date): Html {
  const text = steps.find(([step]) => step === imported.status)?.[2] ?? ''
  const done = percentOf(imported)
  const left = timeLeft(imported, now)
  const bar =
    done === null
      ? html`<progress aria-labelledby="step-text"></progress>`
      : html`<progress max="100" value="${done}" aria-labelledby="step-text">${done} %</progress>`
  return html`<div class="bar"><p class="bar-text"><span id="step-text">${text}</span>
<span class="muted" id="step-percent">${done !== null && `${done} %`}${left && ` · ${left}`}</span></p><div id="bar">${bar}</div></div>`
}

const percentOf = ({ status, percent, push_percent }: Import) =>
  status === 'importing' ? (percent ?? 0) : status === 'pushing' ? (push_percent ?? 0) : null

/** In milliseconds and percent. Before, an estimate would be far off. */
const minimum = { elapsed: 5_000, percent: 2 }

/** Estimated from the pace of this step. */
export function timeLeft(imported: Import, now: Date): string | undefined {
  const { heartbeat_at, step_at } = imported
  const done = percentOf(imported)
  if (!heartbeat_at || !done || done < minimum.percent || done >= 100) return undefined
  const elapsed = heartbeat_at.getTime() - step_at.getTime()
  if (elapsed < minimum.elapsed) return undefined
  const seconds = ((elapsed * (100 - done)) / done - (now.getTime() - heartbeat_at.getTime())) / 1000
  return seconds < 60 ? 'less than a minute left' : `about ${describeDuration(seconds)} left`
}

const units = [
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
] as const

/** Such as `3 minutes` or `2 hours`, rounded. */
export function describeDuration(seconds: number): string {
  const [size, name] = units.find(([unit]) => seconds >= unit) ?? [1, 'second']
  const number = Math.max(size === 1 ? 0 : 1, Math.round(seconds / size))
  return `${number} ${name}${number === 1 ? '' : 's'}`
}

/** What the source counts. Some revisions become no commit, and others several. */
export const sourceUnit = (vcs: Import['vcs']) =>
  vcs === 'subversion' ? 'Revisions' : vcs === 'mercurial' || vcs === 'tfvc' ? 'Changesets' : 'Commits'

export function factList({ vcs, vcs_url, svn_root, tfvc_project, status, commit_count, authors_count }: Import): Html {
  // A complete import has a report with these counts.
  const counted = status !== 'complete'
  return html`<dl class="figures facts-list" id="facts"><div class="source"><dt>Source</dt><dd class="address">${vcs_url}</dd></div>
<div><dt>Kind</dt><dd>${vcs ? kindNames[vcs] : 'not known yet'}</dd></div>
${svn_root && html`<div><dt>Folder</dt><dd class="address">${svn_root}</dd></div>`}${tfvc_project && html`<div><dt>Project</dt><dd class="address">${tfvc_project}</dd></div>`}
${counted && commit_count !== null && html`<div><dt>${sourceUnit(vcs)}</dt><dd>${amount(commit_count)}</dd></div>`}${counted && authors_count > 0 && html`<div><dt>Authors</dt><dd>${amount(authors_count)}</dd></div>`}</dl>`
}
