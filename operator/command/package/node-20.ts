/* What the code uses and Node 20 has not: imported before everything else of the installed command. */

/** Node 22 has it. */
Promise.withResolvers ??= function withResolvers<T>(this: PromiseConstructor) {
  let resolve: PromiseWithResolvers<T>['resolve'] = () => undefined
  let reject: PromiseWithResolvers<T>['reject'] = () => undefined
  const promise = new Promise<T>((fulfil, refuse) => {
    resolve = fulfil
    reject = refuse
  })
  return { promise, resolve, reject }
}

/** The SDK would tell an operator to renew a Node for updates that this command, which is built, does not take. */
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true'
