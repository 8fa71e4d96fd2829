import { testRandomActs } from './random-acts.ts'

testRandomActs({ seed: Number(process.env.MODEL_SEED ?? 2), steps: Number(process.env.MODEL_STEPS ?? 100) })
