import { type Kind, kinds } from '#importer/source.ts'
import type { Import } from '#parts/imports/import-row.ts'
import type { NewImport } from '#parts/imports/imports.ts'
import { invalid, Refusal } from '#platform/errors.ts'
import { choice, field, select, sentence, typed } from '#web/fields.ts'
import { type Html, html } from '#web/html.ts'
import type { Outcome } from '#web/page.ts'

/** As people call them. */
export const kindNames: Record<Kind, string> = {
  git: 'Git',
  subversion: 'Subversion',
  mercurial: 'Mercurial',
  tfvc: 'Team Foundation (TFVC)',
}

/** What stands in the form of an import. The password is never among it. */
export interface FormValues {
  vcs_url: string
  vcs: string
  vcs_username: string
  tfvc_project: string
  svn_ignore: boolean
  verify_all: boolean
  /** Whether a password was typed, which is not kept. */
  password_cleared?: boolean
}

export const blank: FormValues = {
  vcs_url: '',
  vcs: '',
  vcs_username: '',
  tfvc_project: '',
  svn_ignore: false,
  verify_all: false,
}

/** To try it otherwise. Which kind it is may be what is to be tried. */
export function formValuesOf({ vcs_url, vcs, tfvc_project, svn_ignore, verify_all }: Import): FormValues {
  return { ...blank, vcs_url, vcs: vcs ?? '', tfvc_project: tfvc_project ?? '', svn_ignore, verify_all }
}

export function readFormValues(given: URLSearchParams): FormValues {
  return {
    vcs_url: typed(given, 'vcs_url'),
    vcs: typed(given, 'vcs'),
    vcs_username: typed(given, 'vcs_username'),
    tfvc_project: typed(given, 'tfvc_project'),
    svn_ignore: given.get('svn_ignore') === 'true',
    verify_all: given.get('verify') === 'full',
    password_cleared: Boolean(given.get('vcs_password')),
  }
}

/** What is left empty is not given. */
export function readNewImport(given: URLSearchParams): NewImport {
  const { vcs_url, vcs, tfvc_project, svn_ignore, verify_all } = readFormValues(given)
  if (vcs && !isKind(vcs)) throw invalidField('vcs', 'choose one of these')
  checkLengths({ vcs_url, tfvc_project })
  return {
    vcs_url,
    svn_ignore,
    verify_all,
    ...credentialsIn(given),
    ...(isKind(vcs) && { vcs }),
    ...(tfvc_project && { tfvc_project }),
  }
}

const isKind = (name: string): name is Kind => kinds.some((kind) => kind === name)

/** A password may well begin or end with a space. */
export function credentialsIn(given: URLSearchParams) {
  const vcs_username = typed(given, 'vcs_username')
  const vcs_password = (given.get('vcs_password') ?? '').replaceAll('\0', '')
  checkLengths({ vcs_username, vcs_password })
  return { ...(vcs_username && { vcs_username }), ...(vcs_password && { vcs_password }) }
}

export const invalidField = (field: string, message: string) => invalid({ resource: 'Import', code: 'custom', field, message })

/** As the interface has them. */
const longest = { vcs_url: 2048, tfvc_project: 255, vcs_username: 1024, vcs_password: 1024 }

function checkLengths(texts: Partial<Record<keyof typeof longest, string>>) {
  for (const [name, text] of Object.entries(texts)) {
    const most = longest[name as keyof typeof longest]
    if (text.length > most) throw invalidField(name, `${name} is longer than ${most} characters`)
  }
}

/** What is wrong, by the field that it is wrong with; under the empty name what is of none. */
export type FieldErrors = Record<string, string>

/** Shows the page again when what was typed is refused, with what is wrong beside its field. */
export async function attemptForm(
  work: () => Promise<Outcome>,
  again: (errors: FieldErrors) => Outcome | Promise<Outcome>,
  fields: string[] = Object.keys(longest),
): Promise<Outcome> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Refusal) || !(error.reason in refusals)) throw error
    return { ...(await again(fieldErrorsOf(error, [...fields, 'vcs']))), status: refusals[error.reason] ?? 422 }
  }
}

/** What can be said on the page itself, and by which status. */
const refusals: Partial<Record<Refusal['reason'], number>> = { invalid: 422, forbidden: 403, unavailable: 503 }

function fieldErrorsOf({ message, faults = [] }: Refusal, fields: string[]): FieldErrors {
  const errors: FieldErrors = {}
  for (const fault of faults) {
    const place = fields.find((name) => name === fault.field) ?? ''
    errors[place] = [errors[place], asSentence(fault.message ?? message, place)].filter(Boolean).join(' ')
  }
  return faults.length ? errors : { '': sentence(message) }
}

/** Beside the field, its name need not be said again. */
function asSentence(message: string, place: string) {
  return sentence(
    place ? message.replace(`${place} is not supported because `, '').replace(new RegExp(`^${place} `), 'this ') : message,
  )
}

export function alertOf(errors: FieldErrors): Html | undefined {
  const count = Object.keys(errors).length
  if (!count) return undefined
  return html`<p class="error" role="alert">${errors[''] ?? (count === 1 ? 'Something is not right yet: see below.' : `${count} things are not right yet: see below.`)}</p>`
}

/** All but the button. */
export function importFields(values: FormValues, errors: FieldErrors): Html {
  const options: [string, string][] = [
    ['', 'Detect by itself'],
    ...kinds.map((kind): [string, string] => [kind, kindNames[kind]]),
  ]
  return html`${alertOf(errors)}
${field({ label: 'Address of the source', name: 'vcs_url', type: 'url', value: values.vcs_url, required: true, longest: longest.vcs_url, error: errors.vcs_url, hint: 'The address that it is cloned or checked out from: https://, http:// or svn://.' })}
${select('Kind', 'vcs', options, values.vcs)}${errors.vcs && html`<p class="field-error">${errors.vcs}</p>`}
<div class="project">${field({ label: 'TFVC project', name: 'tfvc_project', value: values.tfvc_project, longest: longest.tfvc_project, error: errors.tfvc_project, hint: 'Only for TFVC. Left empty, you choose among those that are found.' })}</div>
<fieldset><legend>If the source asks who you are</legend>${credentialFields(values, errors)}</fieldset>
<fieldset><legend>Ignored files</legend>${choice(
    { name: 'svn_ignore', value: 'true', chosen: values.svn_ignore },
    html`<span>Turn svn:ignore into .gitignore files <span class="hint muted">Only for Subversion. Where the source has a .gitignore of its own, that one stays.</span></span>`,
  )}</fieldset>
<fieldset><legend>Comparison</legend>${choice(
    { name: 'verify', value: 'full', chosen: values.verify_all },
    html`<span>Compare every revision <span class="hint muted">Every branch and tag, and a sample of revisions, are compared with the source anyway. To compare all takes longer.</span></span>`,
  )}</fieldset>`
}

export function credentialFields(
  { vcs_username, password_cleared }: Pick<FormValues, 'vcs_username' | 'password_cleared'>,
  errors: FieldErrors,
): Html {
  const hint = password_cleared
    ? 'Type it again: a password is not kept in a form.'
    : 'Or a token. Kept encrypted for as long as the import runs, and shown to nobody.'
  return html`${field({ label: 'User name', name: 'vcs_username', value: vcs_username, longest: longest.vcs_username, error: errors.vcs_username })}
${field({ label: 'Password', name: 'vcs_password', type: 'password', autocomplete: 'new-password', longest: longest.vcs_password, error: errors.vcs_password, hint })}`
}
