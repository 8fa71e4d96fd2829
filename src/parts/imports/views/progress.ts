import type { Import } from '#parts/imports/changing.ts'
import { amount } from '#parts/webhooks/views/outcome-marks.ts'
import { type Html, html } from '#web/html.ts'
import { kindNames } from './form.ts'

const steps = [
  ['detecting', 'Detect', 'Looking at what is there'],
  ['importing', 'Import', 'Fetching the history'],
  ['mapping', 'Map', 'Writing branches, tags and authors'],
  ['pushing', 'Publish', 'Bringing everything into the repository'],
] as const

/** In words, for a step that failed. */
export const stepName = (name: string | null) => steps.find(([step]) => step === name)?.[1] ?? 'the first step'

/** Whether there is progress to see; what waits for a choice makes none. */
export const isRunning = ({ status, active }: Import) => active && steps.some(([step]) => step === status)

/** Where the import stands: said by words, and by colours only besides. */
export function stepList(imported: Import): Html {
  const { status, failed_step } = imported
  const current = status === 'complete' ? steps.length : steps.findIndex(([step]) => step === placeOf(status, failed_step))
  const halted = status === 'error' ? 'failed' : !isRunning(imported) && 'waits for you'
  const items = steps.map(([, name], index) => {
    const how = index < current ? 'done' : index > current ? 'to come' : halted || 'under way'
    return html`<li class="${how.replaceAll(' ', '-')}"${index === current && html` aria-current="step"`}>${name} <span class="how">${how}</span></li>`
  })
  return html`<ol class="import-steps" id="steps" aria-label="Steps">${items}</ol>`
}

function placeOf(status: Import['status'], failed_step: string | null): string {
  if (status === 'error') return failed_step ?? 'detecting'
  if (status === 'auth_failed') return 'importing'
  return status.startsWith('detection_') ? 'detecting' : status
}

/** How far the step under way has come. Of two of them nobody can tell. */
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

/** In milliseconds and percent: before, nothing is said, since it would be far off. */
const soonest = { elapsed: 5_000, percent: 2 }

/** By the pace of this step so far. */
export function timeLeft(imported: Import, now: Date): string | undefined {
  const { heartbeat_at, step_at } = imported
  const done = percentOf(imported)
  if (!heartbeat_at || !done || done < soonest.percent || done >= 100) return undefined
  const elapsed = heartbeat_at.getTime() - step_at.getTime()
  if (elapsed < soonest.elapsed) return undefined
  const seconds = ((elapsed * (100 - done)) / done - (now.getTime() - heartbeat_at.getTime())) / 1000
  return seconds < 60 ? 'less than a minute left' : `about ${spell(seconds)} left`
}

const units = [
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
] as const

/** `3 minutes`, `2 hours`; what is shorter than a minute to the second, and what is long not to the last of them. */
export function spell(seconds: number): string {
  const [size, name] = units.find(([unit]) => seconds >= unit) ?? [1, 'second']
  const number = Math.max(size === 1 ? 0 : 1, Math.round(seconds / size))
  return `${number} ${name}${number === 1 ? '' : 's'}`
}

/** Where it comes from, and how much came by now. */
export function factList({ vcs, vcs_url, svn_root, tfvc_project, status, commit_count, authors_count }: Import): Html {
  // What is complete has a report.
  const counted = status !== 'complete'
  return html`<dl class="figures facts-list" id="facts"><div class="source"><dt>Source</dt><dd class="address">${vcs_url}</dd></div>
<div><dt>Kind</dt><dd>${vcs ? kindNames[vcs] : 'not known yet'}</dd></div>
${svn_root && html`<div><dt>Folder</dt><dd class="address">${svn_root}</dd></div>`}${tfvc_project && html`<div><dt>Project</dt><dd class="address">${tfvc_project}</dd></div>`}
${counted && commit_count !== null && html`<div><dt>Commits</dt><dd>${amount(commit_count)}</dd></div>`}${counted && authors_count > 0 && html`<div><dt>Authors</dt><dd>${amount(authors_count)}</dd></div>`}</dl>`
}
