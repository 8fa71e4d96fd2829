import { gitignoreTemplates } from '#hosting/templates/gitignore.ts'
import { licenses, readLicenseTemplate } from '#hosting/templates/licenses.ts'
import { invalid } from '#platform/errors.ts'
import type { NewRepository } from './repositories.ts'

/** What the first commit of a new repository contains. An empty name stands for none. */
export interface InitialOptions {
  auto_init?: boolean
  license_template?: string
  gitignore_template?: string
}

/** The files of the first commit by path, and the key of the license; undefined if none is wanted. */
export async function readInitialFiles(
  { name, description, auto_init, license_template = '', gitignore_template = '' }: NewRepository & InitialOptions,
  holder: string,
  at: Date,
): Promise<{ files: Record<string, string>; license: string | null } | undefined> {
  const license = license_template ? findLicense(license_template) : null
  const ignored = gitignore_template ? findIgnored(gitignore_template) : undefined
  const files = {
    ...(auto_init && { 'README.md': `# ${name}\n${description ? `\n${description}\n` : ''}` }),
    ...(license !== null && { LICENSE: await fillLicense(license, holder, at) }),
    ...(ignored !== undefined && { '.gitignore': ignored }),
  }
  return Object.keys(files).length ? { files, license } : undefined
}

function findLicense(wanted: string): string {
  const found = licenses.find(({ key }) => key === wanted.toLowerCase())
  if (!found) throw unknown('license_template', wanted, 'GET /licenses')
  return found.key
}

function findIgnored(wanted: string): string {
  const found = gitignoreTemplates.get(wanted)
  if (found === undefined) throw unknown('gitignore_template', wanted, 'GET /gitignore/templates')
  return found
}

const unknown = (field: string, value: string, list: string) =>
  invalid({
    resource: 'Repository',
    code: 'invalid',
    field,
    message: `There is no template ${value.slice(0, 60)}. ${list} lists them.`,
  })

/** GNU licenses and Apache's have no such fields, except in instructions to readers. */
async function fillLicense(key: string, holder: string, at: Date): Promise<string> {
  const { body } = await readLicenseTemplate(key)
  return body.replaceAll('[year]', String(at.getUTCFullYear())).replaceAll('[fullname]', () => holder)
}
