import type { Vault } from '#platform/vault.ts'

/** The fields of a form whose session had ended, to be submitted after signing in. */
export interface Draft {
  action: string
  fields: [name: string, value: string][]
  /** Names of fields that are not stored, because they contain secrets. */
  omitted: string[]
  /** The page that showed the form. */
  back: string
}

/** The page that shows a draft, by its key. */
export const resumePath = '/login/resume'

/** The maximum size of a draft in bytes. It fits the longest text of a form: 65,536 characters of four bytes. */
const longest = 300_000

/** A draft expires after this time, in milliseconds. */
const lifetime = 3600_000

/** Fields whose values are not stored. */
const isSecret = (name: string) => /^(secret|vcs_password)$/.test(name)

/** A form with a credential or an authorization decision is not stored at all. */
const isCredential = (name: string) => /^(password|current|otp|proposal|decision)$/.test(name)

/** Fields of buttons and choices. A form with only such fields contains nothing that a user wrote. */
const isChoice = (name: string) =>
  /^(id|act|action|answer|state|subscribe|seen|former|undone|read_at|use_lfs|vcs|svn_root|tfvc_project|human_name)$/.test(name)

/** The draft of a form; undefined if there is nothing to store. */
export function draftOf(action: string, form: URLSearchParams, back: string): Draft | 'too long' | undefined {
  // The password is dropped, because a user who has just signed in is not asked for it again.
  const sent = [...form].filter(([name]) => name !== 'csrf' && name !== 'confirm_password')
  if (sent.every(([name, value]) => isChoice(name) || value === '') || sent.some(([name]) => isCredential(name))) return undefined
  const fields = sent.filter(([name]) => !isSecret(name))
  const omitted = sent.filter(([name, value]) => isSecret(name) && value !== '').map(([name]) => name)
  const draft = { action, fields, omitted, back }
  return Buffer.byteLength(JSON.stringify(draft)) > longest ? 'too long' : draft
}

const context = 'form sent without a session'

/** Encrypts a draft for a hidden field of the sign-in page. */
export function sealDraft(vault: Vault, now: Date, draft: Draft): string {
  const expires_at = now.getTime() + lifetime
  return vault.seal(JSON.stringify({ ...draft, expires_at }), context).toString('base64url')
}

export function openDraft(vault: Vault, now: Date, sealed: string): Draft | undefined {
  try {
    const { expires_at, ...draft } = JSON.parse(vault.open(Buffer.from(sealed, 'base64url'), context))
    return expires_at > now.getTime() ? draft : undefined
  } catch {
    return undefined
  }
}
