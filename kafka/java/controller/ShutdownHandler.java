package org.apache.kafka.controller;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.function.Supplier;

/**
 * What ClusterControlManager calls when a broker registers after a shutdown, attached as QuorumController does:
 * ReplicationControlManager.handleBrokerShutdown, up to 3.9 handleBrokerUncleanShutdown.
 */
final class ShutdownHandler {
    private ShutdownHandler() { }

    static ClusterControlManager.Builder attach(
        ClusterControlManager.Builder builder, Supplier<ReplicationControlManager> replication
    ) {
        for (String name : new String[] {"BrokerShutdownHandler", "BrokerUncleanShutdownHandler"}) {
            Class<?> type = nested(name);
            if (type == null) continue;
            String handles = name.replace("Broker", "handleBroker").replace("Handler", "");
            int given = handles.equals("handleBrokerShutdown") ? 3 : 2;
            AnyVersion handle = AnyVersion.method(ReplicationControlManager.class, handles, given);
            Object handler = Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type},
                (proxy, method, arguments) -> handled(method, arguments, handle, replication));
            AnyVersion.method(ClusterControlManager.Builder.class, "set" + name, 1).call(builder, handler);
            return builder;
        }
        throw new IllegalStateException("ClusterControlManager knows no handler of shutdowns");
    }

    private static Object handled(
        Method method, Object[] arguments, AnyVersion handle, Supplier<ReplicationControlManager> replication
    ) {
        if (method.getDeclaringClass() == Object.class)
            throw new UnsupportedOperationException("a handler is only called");
        return handle.call(replication.get(), arguments);
    }

    private static Class<?> nested(String name) {
        try {
            return Class.forName(ClusterControlManager.class.getName() + "$" + name);
        } catch (ClassNotFoundException absent) {
            return null;
        }
    }
}
