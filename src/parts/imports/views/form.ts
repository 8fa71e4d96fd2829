import { type Kind, kinds, type LayoutPatterns } from '#importer/source.ts'
import type { Import } from '#parts/imports/import-row.ts'
import type { NewImport } from '#parts/imports/imports.ts'
import { invalid, Refusal } from '#platform/errors.ts'
import { choice, field, select, sentence, typed } from '#web/fields.ts'
import { type Html, html } from '#web/html.ts'
import type { Outcome } from '#web/page.ts'

export const kindNames: Record<Kind, string> = {
  git: 'Git',
  subversion: 'Subversion',
  mercurial: 'Mercurial',
  tfvc: 'Team Foundation (TFVC)',
}

/** The values of the import form. The password is never sent back. */
export interface FormValues {
  vcs_url: string
  vcs: string
  vcs_username: string
  tfvc_project: string
  svn_ignore: boolean
  gitattributes: boolean
  /** The folders of a layout; empty if it is detected. Several are separated by commas. */
  svn_trunk: string
  svn_branches: string
  svn_tags: string
  keep_deleted: boolean
  verify_all: boolean
  /** Whether a password was typed and dropped. */
  password_cleared?: boolean
}

export const blank: FormValues = {
  vcs_url: '',
  vcs: '',
  vcs_username: '',
  tfvc_project: '',
  svn_ignore: false,
  gitattributes: false,
  svn_trunk: '',
  svn_branches: '',
  svn_tags: '',
  keep_deleted: false,
  verify_all: false,
}

/** The values of a former import, to start it with others. */
export function formValuesOf(imported: Import): FormValues {
  const { vcs_url, vcs, tfvc_project, svn_ignore, gitattributes, svn_layout, keep_deleted, verify_all } = imported
  const layout = svn_layout && {
    svn_trunk: svn_layout.trunk,
    svn_branches: svn_layout.branches.join(', '),
    svn_tags: svn_layout.tags.join(', '),
  }
  return {
    ...blank,
    ...{ vcs_url, vcs: vcs ?? '', tfvc_project: tfvc_project ?? '', svn_ignore, gitattributes, keep_deleted, verify_all },
    ...layout,
  }
}

export function readFormValues(given: URLSearchParams): FormValues {
  return {
    vcs_url: typed(given, 'vcs_url'),
    vcs: typed(given, 'vcs'),
    vcs_username: typed(given, 'vcs_username'),
    tfvc_project: typed(given, 'tfvc_project'),
    svn_ignore: given.get('svn_ignore') === 'true',
    gitattributes: given.get('gitattributes') === 'true',
    svn_trunk: typed(given, 'svn_trunk'),
    svn_branches: typed(given, 'svn_branches'),
    svn_tags: typed(given, 'svn_tags'),
    keep_deleted: given.get('keep_deleted') === 'true',
    verify_all: given.get('verify') === 'full',
    password_cleared: Boolean(given.get('vcs_password')),
  }
}

/** An empty field counts as not given. */
export function readNewImport(given: URLSearchParams): NewImport {
  const values = readFormValues(given)
  const { vcs_url, vcs, tfvc_project, svn_ignore, gitattributes, keep_deleted, verify_all } = values
  if (vcs && !isKind(vcs)) throw invalidField('vcs', 'choose one of these')
  checkLengths({ vcs_url, tfvc_project })
  return {
    vcs_url,
    svn_ignore,
    gitattributes,
    svn_layout: layoutIn(values),
    keep_deleted,
    verify_all,
    ...credentialsIn(given),
    ...(isKind(vcs) && { vcs }),
    ...(tfvc_project && { tfvc_project }),
  }
}

/** Null if all fields are empty. */
function layoutIn({ svn_trunk: trunk, svn_branches, svn_tags }: FormValues): LayoutPatterns | null {
  checkLengths({ svn_trunk: trunk, svn_branches, svn_tags })
  const foldersIn = (text: string) => text.split(',').flatMap((folder) => folder.trim() || [])
  if (!trunk && !svn_branches && !svn_tags) return null
  if (!trunk) throw invalidField('svn_trunk', 'enter the folder that becomes the default branch')
  return { trunk, branches: foldersIn(svn_branches), tags: foldersIn(svn_tags) }
}

const isKind = (name: string): name is Kind => kinds.some((kind) => kind === name)

/** Not trimmed: a password may begin or end with a space. */
export function credentialsIn(given: URLSearchParams) {
  const vcs_username = typed(given, 'vcs_username')
  const vcs_password = (given.get('vcs_password') ?? '').replaceAll('\0', '')
  checkLengths({ vcs_username, vcs_password })
  return { ...(vcs_username && { vcs_username }), ...(vcs_password && { vcs_password }) }
}

export const invalidField = (field: string, message: string) => invalid({ resource: 'Import', code: 'custom', field, message })

/** The limits of the API. */
const longest = {
  vcs_url: 2048,
  tfvc_project: 255,
  vcs_username: 1024,
  vcs_password: 1024,
  svn_trunk: 1024,
  svn_branches: 2048,
  svn_tags: 2048,
}

function checkLengths(texts: Partial<Record<keyof typeof longest, string>>) {
  for (const [name, text] of Object.entries(texts)) {
    const most = longest[name as keyof typeof longest]
    if (text.length > most) throw invalidField(name, `${name} is longer than ${most} characters`)
  }
}

/** Messages by field; those without a field are under the empty name. */
export type FieldErrors = Record<string, string>

/** If the input is refused, shows the page again with the messages next to the fields. */
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

/** The refusals that the page shows, with their statuses. */
const refusals: Partial<Record<Refusal['reason'], number>> = { invalid: 422, forbidden: 403, unavailable: 503 }

function fieldErrorsOf({ message, faults = [] }: Refusal, fields: string[]): FieldErrors {
  const errors: FieldErrors = {}
  for (const fault of faults) {
    const place = fields.find((name) => name === fault.field) ?? ''
    errors[place] = [errors[place], asSentence(fault.message ?? message, place)].filter(Boolean).join(' ')
  }
  return faults.length ? errors : { '': sentence(message) }
}

/** Next to a field, the message does not repeat its name. */
function asSentence(message: string, place: string) {
  return sentence(
    place ? message.replace(`${place} is not supported because `, '').replace(new RegExp(`^${place} `), 'this ') : message,
  )
}

export function alertOf(errors: FieldErrors): Html | undefined {
  const count = Object.keys(errors).length
  if (!count) return undefined
  return html`<p class="error" role="alert">${errors[''] ?? (count === 1 ? 'One field is not valid: see below.' : `${count} fields are not valid: see below.`)}</p>`
}

export function importFields(values: FormValues, errors: FieldErrors): Html {
  const options: [string, string][] = [
    ['', 'Detect by itself'],
    ...kinds.map((kind): [string, string] => [kind, kindNames[kind]]),
  ]
  return html`${alertOf(errors)}
${field({ label: 'URL of the source', name: 'vcs_url', type: 'url', value: values.vcs_url, required: true, longest: longest.vcs_url, error: errors.vcs_url, hint: 'The URL that you would clone or check out: https://, http:// or svn://.' })}
${select('Kind', 'vcs', options, values.vcs)}${errors.vcs && html`<p class="field-error">${errors.vcs}</p>`}
<div class="project">${field({ label: 'TFVC project', name: 'tfvc_project', value: values.tfvc_project, longest: longest.tfvc_project, error: errors.tfvc_project, hint: 'Only for TFVC. If empty, you choose among the projects that are found.' })}</div>
<fieldset><legend>If the source asks for credentials</legend>${credentialFields(values, errors)}</fieldset>
<fieldset><legend>Properties of Subversion</legend>${choice(
    { name: 'svn_ignore', value: 'true', chosen: values.svn_ignore },
    html`<span>Turn svn:ignore into .gitignore files <span class="hint muted">A .gitignore of the source is kept.</span></span>`,
  )}${choice(
    { name: 'gitattributes', value: 'true', chosen: values.gitattributes },
    html`<span>Turn svn:eol-style into .gitattributes files <span class="hint muted">Also svn:mime-type and the keyword Id. A .gitattributes of the source is kept.</span></span>`,
  )}</fieldset>
<fieldset class="layout"><legend>Folders of Subversion</legend><p class="hint muted">Leave these empty to have trunk, branches and tags detected. A folder may have *, as in users/*/*; several are separated by commas.</p>
${field({ label: 'Trunk', name: 'svn_trunk', value: values.svn_trunk, longest: longest.svn_trunk, error: errors.svn_trunk })}
${field({ label: 'Branches', name: 'svn_branches', value: values.svn_branches, longest: longest.svn_branches, error: errors.svn_branches })}
${field({ label: 'Tags', name: 'svn_tags', value: values.svn_tags, longest: longest.svn_tags, error: errors.svn_tags })}</fieldset>
<fieldset><legend>Deleted branches</legend>${choice(
    { name: 'keep_deleted', value: 'true', chosen: values.keep_deleted },
    html`<span>Keep deleted branches and tags <span class="hint muted">Of Subversion as tags, and closed branches of Mercurial as branches. By default only what was merged is kept.</span></span>`,
  )}</fieldset>
<fieldset><legend>Comparison</legend>${choice(
    { name: 'verify', value: 'full', chosen: values.verify_all },
    html`<span>Compare every revision <span class="hint muted">By default, every branch and tag and a sample of revisions are compared with the source. Comparing all takes longer.</span></span>`,
  )}</fieldset>`
}

export function credentialFields(
  { vcs_username, password_cleared }: Pick<FormValues, 'vcs_username' | 'password_cleared'>,
  errors: FieldErrors,
): Html {
  const hint = password_cleared
    ? 'Type it again: forms do not keep passwords.'
    : 'Or a token. It is stored encrypted while the import runs, and never shown.'
  return html`${field({ label: 'User name', name: 'vcs_username', value: vcs_username, longest: longest.vcs_username, error: errors.vcs_username })}
${field({ label: 'Password', name: 'vcs_password', type: 'password', autocomplete: 'new-password', longest: longest.vcs_password, error: errors.vcs_password, hint })}`
}
