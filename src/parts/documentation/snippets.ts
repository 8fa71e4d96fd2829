import { type Method, plainPath } from '#http/endpoint.ts'
import { quoteShell } from '#platform/quote-shell.ts'

/** How a request authenticates. */
export type Credential = 'none' | 'token' | 'password' | 'client' | 'app'

/** A request to write as a program. */
export interface Sample {
  method: Method
  /** The address of the API. */
  base: string
  /** As it is declared: with names in braces. */
  path: string
  names: [name: string, value: string][]
  query: [name: string, value: string][]
  /** Undefined for none. */
  body: unknown
  /** The body is a file of this type. */
  file?: string | undefined
  credential: Credential
  /** Whether a response has a JSON body. */
  reads_json: boolean
}

/** The languages in the order of the tabs. */
export const languages = [
  ['curl', 'curl'],
  ['octokit', 'Octokit.js'],
  ['python', 'Python'],
] as const

type Language = (typeof languages)[number][0]

export const writeSnippet = (language: Language, sample: Sample) => writers[language](sample)

const writers: Record<Language, (sample: Sample) => string> = { curl, octokit, python }

/** The path with its values. Only a `{name+}` takes slashes. */
export function fillPath(path: string, names: Sample['names']) {
  const values = new Map(names)
  return path.replaceAll(/\{(\w+)(\+?)\}/g, (_, name: string, rest: string) => {
    const value = values.get(name) ?? ''
    return rest ? value.split('/').map(encodeURIComponent).join('/') : encodeURIComponent(value)
  })
}

export function queryText(query: Sample['query']) {
  return query.length ? `?${new URLSearchParams(query)}` : ''
}

const urlOf = ({ base, path, names, query }: Sample) => `${base}${fillPath(path, names)}${queryText(query)}`

const curlCredential: Record<Credential, string[]> = {
  none: [],
  token: ['-H "Authorization: Bearer $TOKEN"'],
  password: ['-u "$LOGIN"'],
  client: ['-u "$CLIENT_ID:$CLIENT_SECRET"'],
  app: ['-H "Authorization: Bearer $JWT"'],
}

function curl(sample: Sample) {
  const { method, body, file, credential } = sample
  const lines = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}${quoteShell(urlOf(sample))}`,
    ...curlCredential[credential],
    ...(file ? [`-H ${quoteShell(`Content-Type: ${file}`)}`, '--data-binary @file'] : []),
    ...(body === undefined ? [] : [`-d ${quoteShell(JSON.stringify(body))}`]),
  ]
  return lines.join(' \\\n  ')
}

/** Parameters with a meaning of their own in Octokit. A body with such a field is sent as `data`. */
const reserved = new Set(['baseUrl', 'method', 'url', 'headers', 'mediaType', 'request', 'data'])

const octokitCredential: Record<Credential, string> = {
  none: '',
  token: 'auth: process.env.TOKEN',
  password: '',
  client: '',
  app: 'auth: process.env.JWT',
}

const basicPairs: Partial<Record<Credential, [string, string]>> = {
  password: ['LOGIN', 'PASSWORD'],
  client: ['CLIENT_ID', 'CLIENT_SECRET'],
}

function octokit({ method, base, path, names, query, body, file, credential }: Sample) {
  const isRecord = typeof body === 'object' && body !== null && !Array.isArray(body)
  const fields = isRecord ? Object.entries(body) : []
  const taken = new Set([...reserved, ...names.map(([name]) => name), ...query.map(([name]) => name)])
  const apart = body !== undefined && (!isRecord || fields.some(([name]) => taken.has(name)))
  const pair = basicPairs[credential]
  const parameters = [
    ...[...names, ...query].map(([name, value]) => `${keyOf(name)}: ${quoteScript(value)}`),
    ...(apart
      ? [`data: ${scriptValue(body, '  ')}`]
      : fields.map(([name, value]) => `${keyOf(name)}: ${scriptValue(value, '  ')}`)),
    ...(file ? [`headers: { 'content-type': ${quoteScript(file)} }`, "data: await readFile('file')"] : []),
    ...(pair ? ['headers: { authorization }'] : []),
  ]
  // Octokit sends other parameters of a GET request in the address, and those of other requests in the body.
  const tail = method === 'GET' || !query.length ? '' : `{?${query.map(([name]) => name)}}`
  const options = [`baseUrl: ${quoteScript(base)}`, octokitCredential[credential]].filter(Boolean).join(', ')
  return [
    ...(file ? ["import { readFile } from 'node:fs/promises'"] : []),
    "import { Octokit } from '@octokit/core'",
    '',
    `const octokit = new Octokit({ ${options} })`,
    ...(pair ? [`const authorization = \`Basic \${btoa(\`\${process.env.${pair[0]}}:\${process.env.${pair[1]}}\`)}\``] : []),
    `const { status, data } = await octokit.request(${quoteScript(`${method} ${plainPath(path)}${tail}`)}${
      parameters.length ? `, {\n${parameters.map((line) => `  ${line},\n`).join('')}}` : ''
    })`,
    'console.log(status, data)',
  ].join('\n')
}

const keyOf = (name: string) => (/^[a-z_$][\w$]*$/i.test(name) ? name : quoteScript(name))

const quoteScript = (text: string) => `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`

function scriptValue(value: unknown, indent: string): string {
  if (typeof value === 'string') return quoteScript(value)
  if (Array.isArray(value)) return `[${value.map((one) => scriptValue(one, indent)).join(', ')}]`
  if (typeof value !== 'object' || value === null) return String(value)
  const fields = Object.entries(value).map(([name, one]) => `${keyOf(name)}: ${scriptValue(one, indent)}`)
  return fields.length ? `{ ${fields.join(', ')} }` : '{}'
}

const pythonHeader: Partial<Record<Credential, string>> = {
  token: 'f"Bearer {os.environ[\'TOKEN\']}"',
  app: 'f"Bearer {os.environ[\'JWT\']}"',
}

function python(sample: Sample) {
  const { method, base, path, names, query, body, file, credential, reads_json } = sample
  const header = pythonHeader[credential]
  const pair = basicPairs[credential]
  const headers = [header && `"Authorization": ${header}`, file && `"Content-Type": ${JSON.stringify(file)}`].filter(Boolean)
  const options = [
    JSON.stringify(`${base}${fillPath(path, names)}`),
    query.length && `params=${pythonValue(Object.fromEntries(query))}`,
    headers.length && `headers={${headers.join(', ')}}`,
    pair && `auth=(os.environ["${pair[0]}"], os.environ["${pair[1]}"])`,
    body !== undefined && `json=${pythonValue(body)}`,
    file && 'data=open("file", "rb")',
    'timeout=30',
  ].filter(Boolean)
  return [
    ...(header || pair ? ['import os'] : []),
    'import requests',
    '',
    `response = requests.${method.toLowerCase()}(\n${options.map((line) => `    ${line},\n`).join('')})`,
    'response.raise_for_status()',
    `print(response.status_code${reads_json ? ', response.json()' : ''})`,
  ].join('\n')
}

/** JSON texts are Python texts too. */
function pythonValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(pythonValue).join(', ')}]`
  if (typeof value === 'object' && value !== null) {
    return `{${Object.entries(value)
      .map(([name, one]) => `${JSON.stringify(name)}: ${pythonValue(one)}`)
      .join(', ')}}`
  }
  if (value === null) return 'None'
  return typeof value === 'boolean' ? (value ? 'True' : 'False') : JSON.stringify(value)
}
