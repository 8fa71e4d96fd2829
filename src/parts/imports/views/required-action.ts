import type { Repository } from '#hosting/repositories/repositories.ts'
import type { Choice } from '#importer/source.ts'
import type { Import } from '#parts/imports/import-row.ts'
import { type Html, html } from '#web/html.ts'
import { form, type SignedIn } from '#web/page.ts'
import {
  alertOf,
  blank,
  credentialFields,
  type FieldErrors,
  type FormValues,
  formValuesOf,
  importFields,
  kindNames,
} from './form.ts'
import { importPath, resumeForm } from './import-page.ts'
import { stepName } from './progress.ts'

export interface Submitted {
  values?: FormValues
  errors: FieldErrors
}

interface ActionContext {
  visit: SignedIn
  repo: Repository
  imported: Import
  submitted?: Submitted | undefined
}

/** The input that an import waits for; undefined if it waits for none. */
export function requiredAction(context: ActionContext): Html | undefined {
  switch (context.imported.status) {
    case 'detection_needs_auth':
    case 'auth_failed':
      return askForCredentials(context)
    case 'detection_found_multiple':
      return askForProject(context)
    case 'detection_found_nothing':
      return askForAddress(context)
    case 'error':
      return showError(context)
    default:
      return undefined
  }
}

const section = (title: string, body: Html) =>
  html`<section id="need" aria-labelledby="need-title"><h2 id="need-title">${title}</h2>${body}</section>`

function askForCredentials({ submitted, ...context }: ActionContext): Html {
  const refused = context.imported.status === 'auth_failed'
  const body = html`<p>${
    refused
      ? 'The source does not accept the user name and password, or this account may not read all of it. Enter others to resume the import.'
      : 'The server at this address asks for a user name and a password. Enter them to resume the import. Some servers also ask if there is no repository: check the address.'
  }</p>`
  const fields = html`${alertOf(submitted?.errors ?? {})}${credentialFields(submitted?.values ?? blank, submitted?.errors ?? {})}<p class="buttons"><button class="primary">Resume</button></p>`
  return section(
    refused ? 'Other credentials are needed' : 'The source asks for credentials',
    html`${body}${resumeForm(context, 'credentials', fields, { class: 'form hook-form' })}<p class="muted">To import from another address, cancel this import.</p>`,
  )
}

function askForProject({ submitted, ...context }: ActionContext): Html {
  const choices = (context.imported.project_choices ?? []).map((choice) => html`<li>${choiceForm(context, choice)}</li>`)
  return section(
    'Which project do you want to import?',
    html`${alertOf(submitted?.errors ?? {})}<p>There are several projects at this address. Choose the one for this repository; you can import the others into repositories of their own.</p><ul class="choices plain">${choices}</ul>`,
  )
}

/** Sends the keys of the choice as they were shown. */
function choiceForm(context: ActionContext, choice: Choice): Html {
  const keys = Object.entries(choice).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)
  const where = choice.svn_root ?? choice.tfvc_project
  const button = html`<button>${choice.human_name} <span class="muted where">${kindNames[choice.vcs]}${where && where !== choice.human_name && html`, ${where}`}</span></button>`
  return resumeForm(context, 'project', html`${keys}${button}`)
}

function askForAddress({ visit, repo, imported, submitted }: ActionContext): Html {
  const again = resumeForm({ visit, repo, imported }, 'restart', html`<button>Try again</button>`)
  const elsewhere = startForm(visit, repo, submitted, formValuesOf(imported), 'Import from this address')
  const why = html`<p>A server answers at <code class="address">${imported.vcs_url}</code>, but there is no repository that can be imported. Use the address that
you would clone or check out, not the address of a web page about the repository.</p>`
  return section('No repository was found', html`${why}<div class="buttons">${again}</div><h3>Another address</h3>${elsewhere}`)
}

function showError({ visit, repo, imported, submitted }: ActionContext): Html {
  const again = resumeForm({ visit, repo, imported }, 'restart', html`<button class="primary" id="restart">Restart</button>`)
  const otherwise = startForm(visit, repo, submitted, formValuesOf(imported), 'Start over')
  return section(
    `The import failed at “${stepName(imported.failed_step)}”`,
    html`<p class="error message">${imported.message}</p><p>Fix the problem, then restart the import. It starts over with the same settings. The user name
and password were erased: if the source asks for them, enter them again.</p><div class="buttons">${again}</div>
<details class="otherwise"${submitted && html` open`}><summary>Start over with another address or other settings</summary>${otherwise}</details>`,
  )
}

/** Starting an import replaces one that waits for input. */
export function startForm(
  visit: SignedIn,
  repo: Repository,
  submitted: Submitted | undefined,
  values: FormValues,
  button: string,
): Html {
  const fields = html`${importFields(submitted?.values ?? values, submitted?.errors ?? {})}<p class="buttons"><button class="primary">${button}</button></p>`
  return form(visit, importPath(repo), fields, { class: 'form hook-form import-form' })
}
