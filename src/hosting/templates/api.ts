import { Answer, get, group, listOf } from '#http/endpoint.ts'
import { choice } from '#http/input.ts'
import { Address } from '#http/serialization.ts'
import { missing } from '#platform/errors.ts'
import { Type } from '#platform/schema.ts'
import { emojiPath, emojis } from '#web/emojis.ts'
import { gitignoreTemplates } from './gitignore.ts'
import { licenseJson, SimpleLicense } from './json.ts'
import { licenses, readLicenseTemplate } from './licenses.ts'

const publicly = { permission: 'any', viewer: 'optional' } as const

const Words = Type.Array(Type.String())
const FullLicense = Type.Object(
  {
    ...SimpleLicense.properties,
    html_url: Address,
    description: Type.String(),
    implementation: Type.String(),
    permissions: Words,
    conditions: Words,
    limitations: Words,
    body: Type.String(),
    featured: Type.Boolean(),
  },
  { title: 'License' },
)

const implementation =
  'Create a file named LICENSE with this text in the root of the repository, with the year and the name of the copyright holder.'

export const api = group('Templates', [
  get(
    '/licenses',
    {
      ...publicly,
      operation: 'licenses/get-all-commonly-used',
      summary: 'List the most used licenses',
      query: { featured: choice('', 'true', 'false') },
      ...listOf(SimpleLicense),
    },
    ({ query, page, wire }) => {
      const listed = licenses.filter(({ featured }) => query.featured === '' || String(featured) === query.featured)
      return new Answer(
        listed.slice(page.offset, page.offset + page.limit).map((license) => licenseJson(license, wire)),
        { total: listed.length },
      )
    },
  ),
  get(
    '/licenses/{license}',
    { ...publicly, operation: 'licenses/get', summary: 'Get a license and its text', answers: { 200: FullLicense } },
    async ({ params, wire }) => {
      const license = await readLicenseTemplate(params.license)
      const { description, permissions, conditions, limitations, body, featured } = license
      return {
        ...licenseJson(license, wire),
        html_url: `https://spdx.org/licenses/${license.spdx_id}.html`,
        ...{ description, implementation, permissions, conditions, limitations, body, featured },
      }
    },
  ),
  get(
    '/gitignore/templates',
    {
      ...publicly,
      operation: 'gitignore/get-all-templates',
      summary: 'List the names of the templates for .gitignore',
      answers: { 200: Words },
    },
    () => [...gitignoreTemplates.keys()],
  ),
  get(
    '/gitignore/templates/{name}',
    {
      ...publicly,
      operation: 'gitignore/get-template',
      summary: 'Get a template for .gitignore',
      answers: { 200: Type.Object({ name: Type.String(), source: Type.String() }, { title: 'GitignoreTemplate' }) },
    },
    ({ params: { name } }) => {
      const source = gitignoreTemplates.get(name)
      if (source === undefined) throw missing()
      return { name, source }
    },
  ),
  get(
    '/emojis',
    {
      ...publicly,
      operation: 'emojis/get',
      summary: 'Get the names of emoji and the addresses of their images',
      answers: { 200: Type.Unsafe<Record<string, string>>({ type: 'object', additionalProperties: { type: 'string' } }) },
    },
    ({ wire }) => Object.fromEntries([...emojis].map(([name, character]) => [name, `${wire.web}${emojiPath(character)}`])),
  ),
])
