// SPDX-License-Identifier: BSD-2-Clause
// ExecHttp.java - HTTP by Java's own server and clients: usage: ExecHttp serve PORT FILE | ExecHttp get URL
//
// serve: that file, whatever is asked for.  get: 20 requests at once by HttpClient, one by URLConnection; how many bytes
// came.
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URL;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;

public class ExecHttp {
    static void serve(int port, String file) throws Exception {
        byte[] body = Files.readAllBytes(Path.of(file));
        HttpServer server = HttpServer.create(new InetSocketAddress(port), 64);
        server.createContext("/", x -> {
            x.sendResponseHeaders(200, body.length);
            try (var out = x.getResponseBody()) {
                out.write(body);
            }
        });
        server.setExecutor(Executors.newFixedThreadPool(4));
        server.start();
    }

    static void get(String url) throws Exception {
        HttpClient client = HttpClient.newHttpClient();
        HttpRequest request = HttpRequest.newBuilder(URI.create(url)).build();
        var all = new ArrayList<CompletableFuture<HttpResponse<byte[]>>>();
        long bytes = 0;
        for (int i = 0; i < 20; i++)
            all.add(client.sendAsync(request, HttpResponse.BodyHandlers.ofByteArray()));
        for (var one : all)
            bytes += one.get().body().length;
        try (var in = new URL(url).openStream()) {
            bytes += in.readAllBytes().length;
        }
        System.out.println(bytes);
        System.exit(0);
    }

    public static void main(String[] args) throws Exception {
        if (args[0].equals("serve"))
            serve(Integer.parseInt(args[1]), args[2]);
        else
            get(args[1]);
    }
}
