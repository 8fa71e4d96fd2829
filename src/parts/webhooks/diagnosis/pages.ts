import { type HookVisit, hookPage, hookPath, hookPaths, loadHookVisit } from '#parts/webhooks/views/hook-page.ts'
import { formatDuration, outcomeMark, type Sign, signMark } from '#parts/webhooks/views/outcome-marks.ts'
import { type Html, html } from '#web/html.ts'
import { form, type Outcome, type PageRoute, type SignedIn, showOwn, submitOwn } from '#web/page.ts'
import { diagnosisOptionsOf } from './api.ts'
import { type Diagnosis, diagnose } from './diagnosis.ts'

export const pages: PageRoute[] = hookPaths.flatMap((path) => [
  showOwn(`${path}/:hook_id/diagnose`, async (visit) =>
    diagnosePage(visit, await loadHookVisit(visit), visit.flash.data as Diagnosis | undefined),
  ),
  submitOwn(`${path}/:hook_id/diagnose`, run),
])

const titles: Record<Diagnosis['steps'][number]['step'], string> = {
  policy: 'Address',
  dns: 'DNS',
  tcp: 'Connection',
  tls: 'TLS',
  http: 'Response',
  signature: 'Signature',
}

function diagnosePage(visit: SignedIn, visited: HookVisit, diagnosis?: Diagnosis): Outcome {
  const button = html`<p class="buttons"><button class="primary">${diagnosis ? 'Diagnose again' : 'Diagnose now'}</button></p>`
  const body = html`<p>Sends a signed <code>ping</code> like a delivery and reports each step. The ping is not listed among the deliveries.</p>${diagnosis && resultOf(diagnosis)}${form(visit, `${hookPath(visited)}/diagnose`, button)}`
  return hookPage(visited, '/diagnose', 'Diagnose', body)
}

function resultOf({ ok, failed, steps }: Diagnosis): Html {
  const verdict = ok ? outcomeMark('good', 'All steps passed.') : outcomeMark('bad', `Failed step: ${failed && titles[failed]}.`)
  return html`<p role="status">${verdict}</p><ol class="rows probe">${steps.map(showStep)}</ol>`
}

const signs = new Map<boolean | null, [sign: Sign, text: string]>([
  [true, ['good', 'passed']],
  [false, ['bad', 'failed']],
  [null, ['none', 'skipped']],
])

function showStep({ step, ok, message, duration }: Diagnosis['steps'][number]): Html {
  const [sign, text] = signs.get(ok) ?? ['none', '']
  return html`<li>${signMark(sign)} <strong class="${sign}">${titles[step]} ${text}</strong> <span>${message}</span> <span class="muted">${duration > 0 && formatDuration(duration)}</span></li>`
}

async function run(visit: SignedIn): Promise<Outcome> {
  const visited = await loadHookVisit(visit)
  const { belfry, db, visitor } = visit
  const { hook, target } = visited
  const data = await diagnose(db, diagnosisOptionsOf(belfry), belfry.addresses.web, visitor, target, hook)
  return { to: `${hookPath(visited)}/diagnose`, flash: { data } }
}
