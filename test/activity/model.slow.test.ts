import { testRandomActs } from './random-acts.ts'

testRandomActs({ seed: Number(process.env.MODEL_SEED ?? 2), acts: 100 })
