import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '#test/machine.ts'
import { Cluster, type Node } from './cluster.ts'
import type { Fault } from './faults.ts'
import { Load, repository } from './load.ts'
import { openRandom } from './random.ts'
import { Recorder } from './recorder.ts'
import type { Report, Round } from './report.ts'
import { settle, verify } from './verify.ts'

export interface ChaosOptions {
  faults: Fault[]
  nodes: number
  /** For each fault. */
  rounds: number
  /** How long the load runs in a round. The fault is there in the middle half of it. */
  seconds: number
  seed: number
  signal: AbortSignal
  say: (text: string) => void
}

/** Longer than any recovery; a node that does not recover fails the round. */
const recovering = 120_000

/** Runs every fault under load, and verifies everything after each. */
export async function runChaos({ faults, nodes, rounds, seconds, seed, signal, say }: ChaosOptions): Promise<Report> {
  const random = openRandom(seed)
  const recorder = new Recorder()
  const began = new Date().toISOString()
  await using cluster = await Cluster.open(nodes)
  signal.throwIfAborted()
  await using load = await Load.open(cluster, recorder, openRandom(seed + 1))
  const done: Round[] = []
  /** A finding counts in the round that it was found in first. */
  const known = new Set<string>()
  const fresh = (found: string[]) => found.filter((one) => !known.has(one) && known.add(one))
  let resent = 0

  for (const fault of random.shuffled(faults.flatMap((one) => Array<Fault>(rounds).fill(one)))) {
    signal.throwIfAborted()
    recorder.round++
    const before = countsOf(recorder)
    load.start()
    let recovery: number
    let steps: Round['steps']
    try {
      await sleep(seconds * 250, undefined, { signal })
      await fault.run(cluster, (part = 1) => sleep(seconds * 500 * part, undefined, { signal }), random)
      const repaired = performance.now()
      steps = await Promise.all(cluster.nodes.map((node) => recover(load, node, signal)))
      recovery = performance.now() - repaired
      await sleep(seconds * 250, undefined, { signal })
    } finally {
      await load.stop()
    }
    const stopped = performance.now()
    const unfinished = await settle(load)
    const settled = performance.now() - stopped
    const findings = await verify(load)
    const after = countsOf(recorder)
    const round: Round = {
      fault: fault.name,
      acknowledged: after.acknowledged - before.acknowledged,
      kinds: recorder.kindsOf(recorder.round),
      refused: after.refused - before.refused,
      polls: after.polls - before.polls,
      lost: fresh(findings.lost),
      doubled: fresh(findings.doubled),
      wrong: [...unfinished, ...fresh(findings.wrong)],
      resent: findings.resent - resent,
      exposed: recorder.exposed.splice(0),
      unexpected: recorder.unexpected.splice(0),
      recovery: Math.round(recovery),
      settled: Math.round(settled),
      steps,
    }
    resent = findings.resent
    done.push(round)
    say(describe(round))
  }
  return {
    seed,
    seconds,
    began,
    disk: cluster.disk.mounted ? 'tmpfs' : 'file size limit',
    rounds: done,
    errors: cluster.errors(),
  }
}

const countsOf = ({ acknowledged, refused, unanswered, polls }: Recorder) => ({
  acknowledged: acknowledged.length,
  refused: refused + unanswered,
  polls,
})

/** A node has recovered when a write succeeds there, its payload is delivered, a push succeeds, and all nodes show the write. */
async function recover({ cluster, delivered, random, lanes }: Load, node: Node, signal: AbortSignal) {
  const { admin, nodes } = cluster
  const begun = performance.now()
  const steps: Record<string, number> = {}
  const seen = async (what: string, look: () => boolean | Promise<boolean>) => {
    const attempt = async () => {
      signal.throwIfAborted()
      return look()
    }
    await until(`node ${node.place}: ${what}`, attempt, recovering)
    steps[what] = Math.round(performance.now() - begun)
  }
  let [title, path] = ['', '']
  await seen('a write succeeds', async () => {
    // An attempt that was not acknowledged may have succeeded, so each has a title of its own.
    title = `probe of node ${node.place} at ${performance.now()}`
    const { status, json } = await cluster.ask(node, admin, 'POST', `/repos/${repository}/issues`, { title })
    path = `/repos/${repository}/issues/${json?.number}`
    return status === 201
  })
  const { clone } = random.pick(lanes)
  const pushes = async () => {
    const { status } = await cluster.push(node, admin, clone, repository, `probe-${node.place}`, '--force')
    return status === 0
  }
  await Promise.all([
    seen('a push succeeds', pushes),
    seen('a payload is delivered', () => delivered.has(title)),
    ...nodes.map((other) =>
      seen(`node ${other.place} shows a write`, async () => (await cluster.ask(other, admin, 'GET', path)).status === 200),
    ),
  ])
  return steps
}

function describe(round: Round) {
  const found = (['lost', 'doubled', 'exposed', 'wrong', 'unexpected'] as const).flatMap((kind) =>
    round[kind].slice(0, 10).map((one) => `  ${kind}: ${one}`),
  )
  const times = `recovered in ${(round.recovery / 1000).toFixed(1)} s, settled in ${(round.settled / 1000).toFixed(1)} s`
  const head = `${round.fault}: ${round.acknowledged} acknowledged, ${round.refused} refused, ${round.lost.length} lost, ${times}`
  return [head, ...found].join('\n')
}
