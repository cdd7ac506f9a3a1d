// SPDX-License-Identifier: LGPL-2.1-or-later
// Every type of the library is constructed by new, and every method is called with arguments of one kind: nothing, null, texts,
// numbers, objects. That is done with nothing done before, and with a connection. A crash is a failure; exceptions are not.
//
// The last line of the output names the method that was called last.
imports.gi.versions.QueryClient = '1';
const { GIRepository, Gio, GLib, QueryClient: Query } = imports.gi;
const System = imports.system;

const KINDS = ['Batch', 'Connection', 'Cursor', 'ListModel', 'Namespaces', 'Notifier', 'Resource', 'Row', 'Statement',
    'Subscription', 'Transaction'];
const N_ARGUMENTS = 8;
const VALUES = [undefined, null, '1', -1, [], GLib.Variant.new('a{sv}', {})];
// These wait for what never comes, or end a task that the binding has made itself.
const LEFT_OUT = ['constructor', 'init', 'run_dispose', 'unref', 'ref', 'ref_sink', 'force_floating'];

const SQL = Query.Language.SQL;
const connect = () => Query.Connection.new(null);
const STATES = {
    Connection: [connect],
    Cursor: [() => connect().query(SQL, 'SELECT 1', null, null)],
    Transaction: [() => connect().begin(null)],
    Statement: [() => connect().prepare(SQL, 'SELECT ?', null)],
    Batch: [() => connect().create_batch()],
};

function listMethods(kind) {
    const info = GIRepository.Repository.get_default().find_by_name('QueryClient', kind);
    const names = [];

    for (let i = 0; i < GIRepository.object_info_get_n_methods(info); i++) {
        const method = GIRepository.object_info_get_method(info, i);

        if (GIRepository.function_info_get_flags(method) & GIRepository.FunctionInfoFlags.IS_METHOD)
            names.push(method.get_name());
    }
    return names.filter(name => !LEFT_OUT.includes(name));
}

function settle() {
    const context = GLib.MainContext.default();

    for (let i = 0; i < 50; i++)
        context.iteration(false);
}

function callAll(kind, make) {
    let n = 0;

    for (const name of listMethods(kind)) {
        for (const value of VALUES) {
            print(`${kind}.${name}(${value === null || typeof value !== 'object' ? value : value.constructor.name}, …)`);
            try {
                make()[name](...Array(N_ARGUMENTS).fill(value));
            } catch (error) {
            }
            if (kind === 'Transaction')
                System.gc(); // one that is open keeps the next one waiting
            settle();
        }
        n++;
        System.gc();
    }
    return n;
}

let n = 0;

for (const kind of KINDS) {
    n += callAll(kind, () => new Query[kind]());
    for (const make of STATES[kind] ?? [])
        callAll(kind, make);
}
print(n >= 150 ? 'all as expected' : `only ${n} methods`);
